"""Threads, with results in the order of the work.

Arrow, numpy, the kernel, digests and files release the interpreter lock while they work. Results
are in the order of the work, so they do not depend on the number of cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice
from typing import TypeVar

from geolookup.errors import SettingsError

_T = TypeVar("_T")
_R = TypeVar("_R")
_THREADS = "GEOLOOKUP_THREADS"
#: Each thread holds one item in memory, so the number of threads is limited.
_MOST_THREADS = 4
#: For tables of fewer rows, threads cost more than they save.
WORTH_THREADS = 1 << 16


def cores() -> int:
    """Return how many threads may work at a time: $GEOLOOKUP_THREADS, else one for each core."""
    if stated := os.environ.get(_THREADS):
        if not stated.isdecimal() or not int(stated):
            raise SettingsError(f"{_THREADS} is {stated!r}; write a number of threads, such as 2")
        return int(stated)
    usable = getattr(os, "sched_getaffinity", None)
    # Affinity: a container or ``taskset`` may allow fewer than the machine has.
    return len(usable(0)) if usable else os.cpu_count() or 1


def threads_for(rows: int) -> int:
    """Return the number of threads for tables of so many rows; 0 is the caller's thread only."""
    return min(cores(), _MOST_THREADS) if rows >= WORTH_THREADS else 0


@contextmanager
def in_order(
    function: Callable[[_T], _R], items: Iterable[_T], threads: int | None = None
) -> Iterator[Iterator[_R]]:
    """Yield an iterator over ``function`` of each item, in order; threads compute it in advance.

    There is a thread for each core, at most four, unless ``threads`` states their number. With 0,
    and for one item, the caller's thread computes. The caller's thread reads the items, one more at
    a time than there are threads. An exception is raised in the place of its result. After the
    block no thread is running.
    """
    threads = min(cores(), _MOST_THREADS) if threads is None else threads
    if not threads:
        yield map(function, items)
        return
    pool = ThreadPoolExecutor(threads)  # it starts a thread for a call, not before
    try:
        yield _results(function, iter(items), pool, threads)
    finally:
        pool.shutdown(cancel_futures=True)


def _results(
    function: Callable[[_T], _R], items: Iterator[_T], pool: ThreadPoolExecutor, threads: int
) -> Iterator[_R]:
    head = list(islice(items, 2))
    if len(head) < 2:  # one item needs no thread
        yield from map(function, head)
        return
    running: deque[Future[_R]] = deque()
    for item in chain(head, items):
        # With two threads, three items are in memory: one waits, so no thread does.
        running.append(pool.submit(function, item))
        del item  # may be large
        if len(running) > threads:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


@contextmanager
def alongside(call: Callable[[], _R]) -> Iterator[Callable[[], _R]]:
    """Run a call in a thread during the block; yield a function that waits for its result.

    After the block the thread has ended. That function raises the exception of the call.
    """
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(call).result
