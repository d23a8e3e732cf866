"""The parent's side of the contenders' processes: start them, command them, let them take turns."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import cache
from benchmarks.peers_contenders import Contender, Files

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
        """Send a command and wait for the answer."""
        assert self._child.stdin is not None
        print(json.dumps(command), file=self._child.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if line:
            return json.loads(line)
        return {"refused": f"its process ended with status {self._child.wait()}"}

    def close(self) -> None:
        """End it."""
        self._child.communicate()


@contextlib.contextmanager
def running(
    contenders: Sequence[Contender], files: Files, first: Path
) -> Iterator[list[Process]]:
    """Start the contenders one after the other, and end them all."""
    processes: list[Process] = []
    try:
        for each in contenders:
            processes.append(Process(each, files, first))
        yield processes
    finally:
        for process in processes:
            process.close()


def take_turns(
    processes: Sequence[Process], lists: Mapping[str, Path], threads: Sequence[int], rounds: int
) -> None:
    """Time every contender on every list; each has gone over a list before its first round."""
    able = [each for each in processes if "refused" not in each.facts]
    for name, path in lists.items():
        for each in able:
            each.ask(load=str(path))
        for count in (count for _ in range(rounds) for count in threads):
            for each in able:
                nanoseconds = each.ask(threads=count)["ns"]
                each.rounds.setdefault(key(name, count), []).append(nanoseconds)


def key(workload: str, threads: int = 1) -> str:
    """Return how a workload with so many threads is called in the results."""
    return workload if threads == 1 else f"{workload}, {threads} threads"
