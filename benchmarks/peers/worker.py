"""One contender in a process of its own: opened, timed on its first pass, then on request.

Strategy: a line of JSON in, a line of JSON out. Processes wait while another runs: the rounds of
all contenders interleave and none has another's memory, garbage or caches of Python objects.
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import measure
from benchmarks.harness.processes import pin, say
from benchmarks.peers.contenders import BY_NAME, Contender
from benchmarks.peers.libraries import Answers, Files, Opened, RefusedError


class Worker:
    """An open contender and the list it is timed on."""

    def __init__(self, prepare: Opened) -> None:
        self._prepare = prepare
        self._addresses: Sequence[str] = ()
        self._all: Answers = lambda: iter(())
        self._halves: list[Answers] = []

    def load(self, addresses: Sequence[str]) -> float:
        """Take another list and go over it once; return nanoseconds a lookup."""
        self._halves = []
        self._addresses, self._all = addresses, self._prepare(addresses)
        return self.run(1)

    def settle(self) -> None:
        """Put all on one footing: what exists is no longer scanned, and the collector stays on."""
        gc.collect()
        gc.freeze()

    def run(self, threads: int) -> float:
        """Return nanoseconds a lookup, by the wall clock."""
        if threads > 1:
            return self._run_threads() / len(self._addresses)
        began = time.perf_counter_ns()
        # A deque of no length drains an iterator in C.
        deque(self._all(), 0)
        return (time.perf_counter_ns() - began) / len(self._addresses)

    def _run_threads(self) -> int:
        middle = len(self._addresses) // 2
        if not self._halves:
            parts = self._addresses[:middle], self._addresses[middle:]
            self._halves = [self._prepare(part) for part in parts]
        gate = threading.Barrier(len(self._halves) + 1)

        def drain(answers: Answers) -> None:
            gate.wait()
            deque(answers(), 0)

        threads = [threading.Thread(target=drain, args=(half,)) for half in self._halves]
        for thread in threads:
            thread.start()
        gate.wait()
        began = time.perf_counter_ns()
        for thread in threads:
            thread.join()
        return time.perf_counter_ns() - began


def read_addresses(path: str) -> list[str]:
    """Read a list of addresses, one a line."""
    return Path(path).read_text("ascii").split("\n")


def open_and_measure(contender: Contender, files: Files, first: str) -> tuple[Worker, Any]:
    """Open a contender, look a first list up, and say what memory that took."""
    addresses = read_addresses(first)
    opening = contender.load()
    gc.collect()
    before = measure.resident()
    worker = Worker(opening(files))
    first_pass = worker.load(addresses)
    after = measure.resident()
    version = importlib.metadata.version(contender.package) if contender.package else ""
    return worker, {
        "version": version,
        "first_pass": first_pass,
        "memory": {key: after[key] - before[key] for key in before},
    }


def main(name: str, dataset: str, mmdb: str, ip2location: str, first: str) -> None:
    """Serve commands until the input ends; a contender that cannot take part says why."""
    pin(1)
    files = Files(Path(dataset), Path(mmdb), Path(ip2location) if ip2location else None)
    try:
        worker, facts = open_and_measure(BY_NAME[name], files, first)
    except ImportError as error:
        return say({"refused": f"not installed: {error.name}"})
    except (RefusedError, OSError, ValueError, RuntimeError) as error:
        return say({"refused": str(error) or type(error).__name__})
    say(facts)
    for line in sys.stdin:
        command = json.loads(line)
        pin(command.get("threads", 1))
        if "load" in command:
            worker.load(read_addresses(command["load"]))
            worker.settle()
            say({})
        else:
            say({"ns": worker.run(command["threads"])})
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
