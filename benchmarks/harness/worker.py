"""One contender in a process of its own: opened, compared, then timed on request.

A line of JSON in, a line of JSON out. Processes wait while another runs: the rounds of all
contenders interleave, and none has another's memory, garbage or caches of Python objects.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.contenders.answers import digests
from benchmarks.contenders.opening import THREADS, Files
from benchmarks.contenders.table import BY_NAME, COLUMN, Contender
from benchmarks.harness import measure
from benchmarks.harness.processes import Result, pin, say

_MEMORY = ("RssAnon", "RssFile")


class Worker:
    """An open contender and the addresses that it is timed on."""

    def __init__(self, contender: Contender, files: Files, threads: int) -> None:
        self._contender, self._threads = contender, threads
        self._before = _memory()
        self._prepare = contender.open(files)
        self._calls: list[Callable[[], Iterable[object]]] = []
        self._count = 0

    def compare(self, path: str, count: int) -> Result:
        """Return the digests of the answers to the first addresses of a list."""
        addresses = _read(path, self._contender.kind)[:count]
        pairs = list(self._contender.records(_texts(addresses), self._prepare(addresses)()))
        return {"digests": digests(pairs) if pairs else {}}

    def load(self, path: str) -> Result:
        """Take another list; the garbage collector no longer scans existing objects."""
        before = _memory()
        addresses = _read(path, self._contender.kind)
        addresses = addresses[: max(1, int(len(addresses) * self._contender.share))]
        # The list is the benchmark's, not the contender's.
        self._before = {
            key: self._before[key] + size - before[key] for key, size in _memory().items()
        }
        self._count = len(addresses)
        self._calls = [self._prepare(part) for part in self._parts(addresses)]
        gc.collect()
        gc.freeze()
        return {}

    def _parts(self, addresses: Any) -> Sequence[Any]:
        """Return a part for each thread, unless the contender divides a table itself."""
        if self._threads == 1 or self._contender.kind == COLUMN:
            return [addresses]
        size = -(-len(addresses) // self._threads)
        return [addresses[at : at + size] for at in range(0, len(addresses), size)]

    def run(self) -> Result:
        """Go over the list; return nanoseconds an address, and how much memory grew so far."""
        if len(self._calls) == 1:
            began = time.perf_counter_ns()
            # A deque of no length drains an iterator in C.
            deque(self._calls[0](), 0)
            took = time.perf_counter_ns() - began
        else:
            took = self._run_threads()
        growth = {key: size - self._before[key] for key, size in _memory().items()}
        return {"ns": took / self._count, "memory": growth}

    def _run_threads(self) -> int:
        gate = threading.Barrier(len(self._calls) + 1)

        def drain(call: Callable[[], Iterable[object]]) -> None:
            gate.wait()
            deque(call(), 0)

        threads = [threading.Thread(target=drain, args=(call,)) for call in self._calls]
        for thread in threads:
            thread.start()
        gate.wait()
        began = time.perf_counter_ns()
        for thread in threads:
            thread.join()
        return time.perf_counter_ns() - began


def _memory() -> dict[str, int]:
    return {name: measure.memory(name) or 0 for name in _MEMORY}


def _read(path: str, kind: str) -> Any:
    """Read a list of addresses, one a line; for columns as a table in memory of our own."""
    if kind != COLUMN:
        return Path(path).read_text("ascii").split("\n")
    import pyarrow as pa

    return pa.ipc.open_file(pa.py_buffer(Path(path).read_bytes())).read_all()


def _texts(addresses: Any) -> Sequence[str]:
    texts: Sequence[str] = addresses if isinstance(addresses, list) else addresses["ip"].to_pylist()
    return texts


def main(name: str, threads: str, dataset: str, mmdb: str) -> None:
    """Serve commands until the input ends; a contender that cannot take part says why."""
    pin(int(threads))
    os.environ[THREADS] = threads
    contender = BY_NAME[name]
    try:
        worker = Worker(contender, Files(Path(dataset), Path(mmdb)), int(threads))
        say({"version": importlib.metadata.version(contender.package)})
        for line in sys.stdin:
            command = json.loads(line)
            say(getattr(worker, command.pop("do"))(**command))
    except ImportError as error:
        say({"refused": f"not installed: {error.name}"})
    except Exception as error:  # noqa: BLE001 - whatever a library raises
        say({"refused": f"{type(error).__name__}: {error}"[:200].splitlines()[0]})


if __name__ == "__main__":
    main(*sys.argv[1:])
