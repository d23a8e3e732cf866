"""The memory of a build: from the system's allocator, released between the steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import pyarrow as pa

#: Held by a running build: Arrow's default memory pool is shared by the whole process. A build
#: with ground truth holds it twice: the truth is compiled too.
_one_build = RLock()


@contextmanager
def system_memory() -> Iterator[None]:
    """Let Arrow use the system's allocator during a build.

    Arrow's default allocator returns memory to the system early; the page faults that follow
    took a quarter of the time of a build.
    """
    with _one_build:
        usual = pa.default_memory_pool()
        pa.set_memory_pool(pa.system_memory_pool())
        try:
            yield
        finally:
            pa.set_memory_pool(usual)


def release() -> None:
    """Return to the system the memory that its allocator holds and nothing uses."""
    pa.default_memory_pool().release_unused()
