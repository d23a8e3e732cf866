"""A command of geolookup, or an opening with an overlay, in a process of its own.

CPU seconds are of the whole process, its start included.
"""

from __future__ import annotations

import os
import sys
import time

import geolookup
from benchmarks.harness import measure
from benchmarks.harness.processes import Result, result_of, say


def run(*arguments: object) -> Result:
    """Run a command, or ``open DATASET OVERLAY CACHE``, and return its measurements."""
    began = time.perf_counter()
    result = result_of("benchmarks.own.child", *arguments)
    return {**result, "seconds": time.perf_counter() - began}


def _open(dataset: str, overlay: str, cache: str) -> None:
    os.environ["GEOLOOKUP_CACHE"] = cache
    geolookup.open(dataset, overlay=overlay).close()


def _main(name: str, *arguments: str) -> Result:
    began = time.perf_counter()
    if name == "open":
        _open(*arguments)
    else:
        _command(name, *arguments)
    return {
        "call": time.perf_counter() - began,
        "cpu": time.process_time(),
        "peak_memory": measure.peak_memory(),
    }


def _command(*arguments: str) -> None:
    from geolookup.cli import main

    sys.argv[1:] = arguments
    try:
        main()
    except SystemExit as done:
        if done.code:
            raise


if __name__ == "__main__":
    say(_main(*sys.argv[1:]))
