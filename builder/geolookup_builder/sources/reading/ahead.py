"""Reading and taking at once: the next batch is read by a thread while one is worked on.

Arrow cuts text into columns without Python's lock, so that two cores are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


@contextmanager
def ahead(batches: Iterable[_T]) -> Iterator[Iterator[_T]]:
    """Give the batches in their order; behind the block nothing reads any more.

    What reading raises is raised where the batch would have come.
    """
    with ThreadPoolExecutor(1) as thread:
        yield _taken(iter(batches), thread)


def _taken(batches: Iterator[_T], thread: ThreadPoolExecutor) -> Iterator[_T]:
    following = thread.submit(next, batches, None)
    while (batch := following.result()) is not None:
        following = thread.submit(next, batches, None)
        yield batch
