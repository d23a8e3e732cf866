"""Child processes of the benchmarks: each measures only itself, without another's memory.

A child is a module of this package that is run with arguments. It either prints one result as
JSON and ends (``result_of``), or it answers each line of JSON with a line of JSON (``Child``):
then it waits while the others run, and the rounds of all interleave.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
Result = dict[str, Any]


class Child:
    """A process that answers commands."""

    def __init__(
        self, module: str, *arguments: object, environment: Mapping[str, str] | None = None
    ) -> None:
        self._child = subprocess.Popen(
            _command(module, arguments),
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        #: What the child says of itself, or ``{"refused": reason}``.
        self.facts: Result = self._answer()

    def ask(self, **command: object) -> Result:
        """Send a command and return the answer; a child that refused once is not asked again."""
        if "refused" in self.facts:
            return self.facts
        with contextlib.suppress(BrokenPipeError):  # the answer says so
            print(json.dumps(command), file=self._child.stdin, flush=True)
        answer = self._answer()
        if "refused" in answer:
            self.facts = answer
        return answer

    def _answer(self) -> Result:
        line = self._child.stdout.readline() if self._child.stdout else ""
        facts: Result = json.loads(line) if line else {}
        return facts if line else {"refused": f"its process ended with status {self._child.wait()}"}

    def close(self) -> None:
        """End the process."""
        self._child.communicate()


@contextlib.contextmanager
def run_children(children: Iterable[Child]) -> Iterator[list[Child]]:
    """Start the children of a lazy iterable one after the other, and end them all."""
    processes: list[Child] = []
    try:
        for child in children:  # one by one: all that run are ended, whatever happens
            processes.append(child)  # noqa: PERF402
        yield processes
    finally:
        for child in processes:
            child.close()


def result_of(module: str, *arguments: object, stderr: int | None = None) -> Result:
    """Run a module and return the JSON of its last line; raises CalledProcessError."""
    process = subprocess.run(
        _command(module, arguments),
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    result: Result = json.loads(process.stdout.splitlines()[-1])
    return result


def _command(module: str, arguments: Iterable[object]) -> list[str]:
    return [sys.executable, "-m", module, *map(str, arguments)]


def say(answer: object) -> None:
    """Answer the parent; called in the child."""
    print(json.dumps(answer), flush=True)


def pin(cores: int) -> None:
    """Keep this process on that many cores, the last ones, where the system can."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, _CORES[-cores:])


_CORES = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
