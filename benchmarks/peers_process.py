"""The parent's side of the contenders' processes: start them, command them, let them take turns."""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import cache
from benchmarks.peers_contenders import Contender
from benchmarks.peers_libraries import Files

Rounds = dict[str, list[float]]


class Process:
    """A contender in its process."""

    def __init__(self, contender: Contender, files: Files, first: Path) -> None:
        self.contender = contender
        arguments = [contender.name, files.dataset, files.mmdb, files.ip2location or "", first]
        self._child = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers_worker", *map(str, arguments)],
            cwd=cache.ROOT.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        #: What it says of itself: version and memory, or why it cannot take part.
        self.facts = self._answer()
        self.rounds: Rounds = {}

    def ask(self, **command: object) -> Any:
        """Send a command and wait for the answer; who cannot take part never does."""
        if "refused" in self.facts:
            return self.facts
        with contextlib.suppress(BrokenPipeError):  # the answer says so
            print(json.dumps(command), file=self._child.stdin, flush=True)
        answer = self._answer()
        if "refused" in answer:
            self.facts = answer
        return answer

    def _answer(self) -> Any:
        line = self._child.stdout.readline() if self._child.stdout else ""
        if line:
            return json.loads(line)
        return {"refused": f"its process ended with status {self._child.wait()}"}

    def close(self) -> None:
        """End it."""
        self._child.communicate()


@contextlib.contextmanager
def running(contenders: Sequence[Contender], files: Files, first: Path) -> Iterator[list[Process]]:
    """Start the contenders one after the other, and end them all."""
    processes: list[Process] = []
    try:
        # Each is added as soon as it runs, so that all are ended whatever happens.
        processes.extend(Process(each, files, first) for each in contenders)
        yield processes
    finally:
        for process in processes:
            process.close()


def take_turns(
    processes: Sequence[Process], lists: Mapping[str, Path], threads: Sequence[int], rounds: int
) -> None:
    """Time every contender on every list; each has gone over a list before its first round."""
    for name, path in lists.items():
        for each in processes:
            each.ask(load=str(path))
        for _, count, each in itertools.product(range(rounds), threads, processes):
            if "ns" in (answer := each.ask(threads=count)):
                each.rounds.setdefault(key(name, count), []).append(answer["ns"])


def key(workload: str, threads: int = 1) -> str:
    """Return how a workload with so many threads is called in the results."""
    return workload if threads == 1 else f"{workload}, {threads} threads"
