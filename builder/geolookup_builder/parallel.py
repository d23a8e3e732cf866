"""Work on several cores: what a build computes in threads, with results in the order of the work.

Arrow, numpy, the kernel, digests and files work without Python's global lock. Nothing here
decides an order, so a dataset does not depend on the number of cores.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")
#: Each thread holds one item in memory, so that more cores than this are not used.
_MOST_THREADS = 4


def _threads() -> int:
    """Return how many threads to use: one for each core that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    return min(count, _MOST_THREADS)


@contextmanager
def in_order(function: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[Iterator[_R]]:
    """Give ``function`` of each item, in the order of the items; threads compute it in advance.

    The items themselves are taken by the caller's thread, one more of them than there are
    threads. An exception takes the place of its result; after the block nothing is running.
    """
    threads = _threads()
    running: deque[Future[_R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            yield _results(function, iter(items), pool, running, threads + 1)
        finally:
            for each in running:
                each.cancel()


def _results(
    function: Callable[[_T], _R],
    items: Iterator[_T],
    pool: ThreadPoolExecutor,
    running: deque[Future[_R]],
    ahead: int,
) -> Iterator[_R]:
    for item in items:
        running.append(pool.submit(function, item))
        del item  # may be large
        if len(running) >= ahead:
            yield running.popleft().result()
    while running:
        yield running.popleft().result()


@contextmanager
def alongside(call: Callable[[], _R]) -> Iterator[Callable[[], _R]]:
    """Run a call in a thread during the block; gives a function that waits for its result.

    After the block the call has ended. Its exception is raised where its result is asked for.
    """
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(call).result
