"""One contender in a process of its own: opened, run once, then timed on command.

Strategy: as ``benchmarks.peers.worker``. Every run has addresses of its own: no contender meets one
again.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pyarrow as pa

from benchmarks.harness import measure
from benchmarks.harness.processes import pin, say
from benchmarks.peers.libraries import Files
from benchmarks.tables.answers import digests
from benchmarks.tables.contenders import BY_KEY

#: How many answers of each contender are compared before anything is timed.
COMPARED = 5_000


def read(path: Path) -> pa.Table:
    """Read a table into memory of our own."""
    return pa.ipc.open_file(pa.py_buffer(path.read_bytes())).read_all()


def _part(path: str, share: float) -> pa.Table:
    data = read(Path(path))
    return data.slice(0, max(int(len(data) * share), 1))


def main(key: str, dataset: str, mmdb: str, first: str, *others: str) -> None:
    """Serve a round for each line until the input ends; say why where that cannot be.

    ``first`` are the addresses of the run that is not timed, ``others`` the addresses of each
    round.
    """
    contender = BY_KEY[key]
    pin(contender.threads)
    os.environ["POLARS_MAX_THREADS"] = str(contender.threads)
    data = _part(first, contender.share)
    try:
        prepare = contender.open(Files(Path(dataset), Path(mmdb)))
        answers = digests(contender.values(prepare(read(Path(first)).slice(0, COMPARED))()))
        run = prepare(data)
        before = measure.peak_memory() or 0
        table = run()
        del table
    except ImportError as error:
        return say({"refused": f"not installed: {error.name}"})
    except Exception as error:  # noqa: BLE001 - whatever a library raises, it takes no part
        return say({"refused": f"{type(error).__name__}: {error}"[:200]})
    say({"peak": (measure.peak_memory() or 0) - before, "answers": answers})
    for path, _ in zip(others, sys.stdin, strict=False):
        data = _part(path, contender.share)
        run = prepare(data)
        began = time.perf_counter_ns()
        table = run()
        took = time.perf_counter_ns() - began
        del table
        say({"ns": took / len(data)})
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
