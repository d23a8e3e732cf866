"""One step in a process of its own: its seconds, and the most memory that it had."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import geolookup
from benchmarks.harness import measure, processes

#: Each takes a dataset or an archive, its target, and a base or "none".
STEPS: dict[str, Callable[[str, str, str | None], object]] = {
    "pack": lambda source, target, base: geolookup.pack(source, target, base=base),
    "unpack": lambda source, target, base: geolookup.unpack(source, target, base=base),
}


def main(step: str, source: str, target: str, base: str) -> None:
    """Take a step, and print its measurements."""
    began, processor = time.perf_counter(), time.process_time()
    STEPS[step](source, target, None if base == "none" else base)
    seconds, cpu = time.perf_counter() - began, time.process_time() - processor
    processes.say({"seconds": seconds, "cpu": cpu, "peak_memory": measure.peak_memory()})


if __name__ == "__main__":
    main(*sys.argv[1:])
