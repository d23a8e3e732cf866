"""One command in a process of its own, to measure its time and its peak memory."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from pathlib import Path

from benchmarks.harness import measure
from benchmarks.harness.processes import Result, say

CORES = 2


def _write(page: Path, command: list[str]) -> Result:
    """Run a command of geolookup that writes a page; CPU seconds are the process's."""
    sys.argv = ["geolookup", *command, "--output", str(page)]
    began = time.perf_counter()
    from geolookup.cli import main  # the import is a part of the command

    with measure.on_cores(CORES) as pinned, contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time(),
        "peak_memory": measure.peak_memory(),
        "bytes": page.stat().st_size,
        "machine": measure.facts(pinned=pinned),
    }


if __name__ == "__main__":
    say(_write(Path(sys.argv[1]), sys.argv[2:]))
