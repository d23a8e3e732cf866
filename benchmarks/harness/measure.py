"""What a benchmark measures with: cores, facts of the machine, memory of this process."""

from __future__ import annotations

import contextlib
import os
import platform
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

Facts = dict[str, str | int | float]


@contextlib.contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Keep this process on ``count`` cores inside the block, where the system can."""
    if sys.platform != "linux":
        yield
        return
    before = os.sched_getaffinity(0)
    # The last ones: interrupts and other work tend to be on the first.
    os.sched_setaffinity(0, sorted(before)[-count:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def facts() -> Facts:
    """Return what a result depends on, without naming the machine; called before it measures."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count() or 0,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
    }


def memory(name: str, process: int | str = "self") -> int | None:
    """Return a size of /proc/PROCESS/status in bytes, such as VmHWM; None where unknown."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return None


def quotient(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how many times as long one takes as the other: the median over the rounds.

    The rounds followed each other, so a busy moment of the machine weighs on both.
    """
    return statistics.median(a / b for a, b in zip(one, other, strict=True))
