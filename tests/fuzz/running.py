"""One target under libFuzzer: starts it in a process of its own, and reads what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzz import corpus
from tests.fuzz.search import passes
from tests.fuzz.targets import TARGETS

HOME = ROOT / ".fuzz"
#: Inputs that reached something new, by target; libFuzzer adds to them.
LEARNT = HOME / "corpus"
#: Where the system has it, files in memory: they are written and synchronized thousands of times.
_MEMORY = Path("/dev/shm")  # noqa: S108 - only folders of our own are made in it
#: Seconds that one input may take, beside others on a machine that is busy.
_TIME_LIMIT = 25
_MEMORY_LIMIT_MB = 3000
_LAST_LINES = 40


@dataclass(frozen=True, slots=True)
class Run:
    """What libFuzzer said of a target; ``output`` is all of it where something was found."""

    name: str
    inputs: int
    covered: int
    found: bool
    output: str

    def line(self) -> str:
        verdict = "FOUND" if self.found else "nothing"
        return f"{self.name:20} {self.inputs:10,} inputs, {self.covered:6,} edges, {verdict}"


def fuzzed(name: str, seconds: int, seed: int, learnt: Path, found: Path = HOME / "found") -> Run:
    """Fuzz a target from its seeds, its corpus and what was learnt before."""
    return _run(name, seconds, seed, learnt, found, starts(name), planted=False)


def fuzzed_for_the_planted_bug(name: str, seconds: int, seed: int, folder: Path) -> Run:
    """Fuzz a target with its bug, from the inputs that do not show it."""
    with TARGETS[name].planted():
        passing = [data for data in starts(name) if passes(TARGETS[name], data)]
    return _run(name, seconds, seed, folder / name, folder / "found", passing, planted=True)


def starts(name: str) -> list[bytes]:
    """Return the inputs that a run begins with."""
    return [*TARGETS[name].seeds(), *corpus.entries(name)]


def _run(
    name: str,
    seconds: int,
    seed: int,
    learnt: Path,
    found: Path,
    begin: Iterable[bytes],
    *,
    planted: bool,
) -> Run:
    for folder in (learnt, found):
        folder.mkdir(parents=True, exist_ok=True)
    inputs = list(begin)
    for data in inputs:
        (learnt / corpus.file_name(data)).write_bytes(data)
    options = (
        *(f"-seed={seed}", f"-timeout={_TIME_LIMIT}", f"-rss_limit_mb={_MEMORY_LIMIT_MB}"),
        *(f"-max_len={max(4096, 2 * max(map(len, inputs)))}", f"-artifact_prefix={found}/{name}-"),
        str(learnt),
    )
    command = [sys.executable, "-m", "tests.fuzz.one", name, str(seconds), str(found)]
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as memory:
        done = subprocess.run(
            [*command, str(int(planted)), *options],
            cwd=ROOT,
            # Without a random hash seed, one seed of mutations gives one sequence of inputs.
            env={**os.environ, "TMPDIR": memory, "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    return _judged(name, done.returncode, done.stderr + done.stdout)


def _judged(name: str, status: int, output: str) -> Run:
    inputs = re.findall(r"^(\d+) inputs$", output, re.MULTILINE)
    covered = re.findall(r"cov: (\d+)", output)
    told = [line[:500] for line in output.splitlines() if not line.startswith(("INFO", "WARNING"))]
    tail = "\n".join(told[-_LAST_LINES:])
    return Run(name, int((inputs or ["0"])[-1]), int((covered or ["0"])[-1]), status != 0, tail)
