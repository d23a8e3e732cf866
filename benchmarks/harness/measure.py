"""What a benchmark measures with: cores, facts of the machine, memory of this process."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

Facts = dict[str, str | int | bool]


def one_core() -> AbstractContextManager[bool]:
    """Keep this process on one core inside the block; see ``on_cores``."""
    return on_cores(1)


@contextlib.contextmanager
def on_cores(count: int) -> Iterator[bool]:
    """Keep this process on ``count`` cores inside the block; yields whether the system could."""
    if sys.platform != "linux":
        yield False
        return
    before = os.sched_getaffinity(0)
    # The last ones: interrupts and other work tend to be on the first.
    os.sched_setaffinity(0, sorted(before)[-count:])
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def facts(*, pinned: bool) -> Facts:
    """Return what a result depends on, without naming the machine."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count() or 0,
        "pinned": pinned,
    }


def peak_memory() -> int | None:
    """Return the most bytes this process has had in memory, or None where unknown.

    Linux says it of the program itself; getrusage would count what the
    starting process held before this program took its place.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


def resident() -> dict[str, int]:
    """Return this process's bytes in memory, its own and the ones of mapped files; none
    elsewhere."""
    sizes = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            name, _, size = line.partition(":")
            if name in ("RssAnon", "RssFile"):
                sizes[name] = int(size.split()[0]) << 10
    return sizes
