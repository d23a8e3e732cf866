"""The memory of a build: how much it may take, and from which allocator it comes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import pyarrow as pa

from geolookup.filesystem.limits import read_bytes

#: Held by a running build: Arrow's default memory pool is shared by the whole process. A build
#: with ground truth holds it twice: the truth is compiled too.
_one_build = RLock()
#: The interpreter, its libraries, the blocks of a file that are being parsed, and what the system's
#: allocator holds and nothing uses.
_BASE = 260 << 20
LEAST = 500 * 10**6
#: The limit of a system that does not say how much memory is free.
_UNKNOWN = 1 << 62


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Bytes that a build may take."""

    limit: int  # of the whole process
    rows: int  # rows of a table that stay in memory, with its new values
    band: int  # the work on a band of the address space; each family has one at a time
    values: int  # the distinct values

    @classmethod
    def of(cls, max_memory: str | int | None) -> MemoryBudget:
        """Return the budget of an option; by default, three quarters of the free memory.

        Raises ValueError for a size that is not one, or too small.
        """
        if max_memory is None:
            limit = max(LEAST, available() * 3 // 4)
        else:
            limit = read_bytes(str(max_memory))
            if limit < LEAST:
                raise ValueError(f"max_memory is {max_memory}; a build needs {LEAST // 10**6}MB")
        room = limit - _BASE
        return cls(limit, room // 4, room * 2 // 5, room // 2)


def peak() -> int:
    """Return the bytes that this process has taken at most; 0 on a system that does not say."""
    return next(_stated("/proc/self/status", "VmHWM:"), 0) << 10


def available() -> int:
    """Return the bytes that the system and the control groups of this process leave."""
    free = [size << 10 for size in _stated("/proc/meminfo", "MemAvailable:")]
    with suppress(OSError, ValueError, AttributeError):  # another system than Linux
        free = free or [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    return min((_UNKNOWN, *free, *_of_groups()))


def _stated(file: str | Path, name: str = "") -> Iterator[int]:
    """Yield the number that a line of the system states, such as "VmHWM:    456789 kB"."""
    with suppress(OSError, ValueError):
        text = Path(file).read_text(encoding="ascii")
        yield from map(int, re.findall(rf"^{name}\s*(\d+)\b", text, re.MULTILINE))


def _of_groups() -> Iterator[int]:
    """Yield what each control group (version 2) around this process leaves."""
    with suppress(OSError, UnicodeDecodeError):
        # 0::/system.slice/a.service; a container may see its own group as the root.
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        for inner in (line.removeprefix("0::/") for line in lines if line.startswith("0::/")):
            group = Path("/sys/fs/cgroup", inner)
            for folder in (group, *group.parents):
                # Pages of files in no use are given back at once.
                unused = sum(_stated(folder / "memory.stat", "inactive_file"))
                # "max" means no limit, and is not a number.
                taken = sum(_stated(folder / "memory.current")) - unused
                yield from (max(0, limit - taken) for limit in _stated(folder / "memory.max"))


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
