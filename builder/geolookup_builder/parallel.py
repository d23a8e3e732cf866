"""Threads of a build, with results in the order of the work.

Arrow, numpy, the kernel, digests and files release the interpreter lock while they work. Results
are in the order of the work, so a dataset does not depend on the number of cores.
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
#: Each thread holds one item in memory, so the number of threads is limited.
_MOST_THREADS = 4


def _threads() -> int:
    """Return how many threads to use: one for each core that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    count = len(usable(0)) if usable else os.cpu_count() or 1
    return min(count, _MOST_THREADS)


@contextmanager
def in_order(function: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[Iterator[_R]]:
    """Yield an iterator over ``function`` of each item, in order; threads compute it in advance.

    The caller's thread reads the items, one more at a time than there are threads. An exception
    is raised in the place of its result. After the block no thread is running.
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
    """Run a call in a thread during the block; yield a function that waits for its result.

    After the block the call has ended. That function raises the exception of the call.
    """
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(call).result
