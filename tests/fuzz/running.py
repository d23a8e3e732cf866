"""Targets under libFuzzer, each in a process of its own, and what it says of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzz import corpus
from tests.fuzz.target import READY, Job, passes
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
    has_finding: bool
    output: str

    def line(self) -> str:
        verdict = "FOUND" if self.has_finding else "nothing"
        return f"{self.name:20} {self.inputs:10,} inputs, {self.covered:6,} edges, {verdict}"


def fuzzed(names: Sequence[str], seconds: int, seed: int, learnt: Path) -> Iterator[Run]:
    """Fuzz targets in turn, each from its seeds, its corpus and what was learnt before."""
    begin = {name: starts(name) for name in names}
    yield from _runs(begin, seconds, seed, learnt, HOME / "found", planted=False)


def fuzzed_for_the_planted_bugs(names: Sequence[str], seconds: int, folder: Path) -> Iterator[Run]:
    """Fuzz targets with their bugs, from the inputs that do not show them."""
    begin = {}
    for name in names:
        with TARGETS[name].planted():
            begin[name] = [data for data in starts(name) if passes(TARGETS[name], data)]
    yield from _runs(begin, seconds, 1, folder, folder / "found", planted=True)


def starts(name: str) -> list[bytes]:
    """Return the inputs that a run begins with."""
    return [*TARGETS[name].seeds(), *corpus.entries(name)]


def _runs(
    begin: Mapping[str, list[bytes]],
    seconds: int,
    seed: int,
    learnt: Path,
    findings: Path,
    *,
    planted: bool,
) -> Iterator[Run]:
    """Yield what libFuzzer said of each target, in a process that imports the code once."""
    findings.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as memory,
        _fuzzing(Path(memory) / "errors") as process,
    ):
        for name, inputs in begin.items():
            options = _options(name, seed, learnt / name, findings, inputs)
            output = Path(memory) / f"{name}.txt"
            (Path(memory) / name).mkdir()
            folder = str(Path(memory) / name)
            job = Job(name, seconds, str(findings), folder, str(output), options, planted)
            yield _judged(name, _status(process, job), output.read_text("utf-8", "replace"))


def _options(name: str, seed: int, learnt: Path, findings: Path, begin: list[bytes]) -> list[str]:
    """Write the inputs that a run begins with, and return the options of libFuzzer."""
    learnt.mkdir(parents=True, exist_ok=True)
    for data in begin:
        (learnt / corpus.file_name(data)).write_bytes(data)
    longest = max(4096, 2 * max(map(len, begin)))
    return [
        *(f"-seed={seed}", f"-timeout={_TIME_LIMIT}", f"-rss_limit_mb={_MEMORY_LIMIT_MB}"),
        *(f"-max_len={longest}", f"-artifact_prefix={findings}/{name}-", str(learnt)),
    ]


@contextmanager
def _fuzzing(errors: Path) -> Iterator[subprocess.Popen[str]]:
    """Start the process that forks for each job, and end it; RuntimeError if it cannot start."""
    with (
        errors.open("w+", encoding="utf-8") as told,
        subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.one"],
            cwd=ROOT,
            # Without a random hash seed, one seed of mutations gives one sequence of inputs.
            env={**os.environ, "PYTHONHASHSEED": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
        ) as process,
    ):
        if process.stdout is None or process.stdout.readline() != READY:
            raise RuntimeError(errors.read_text(encoding="utf-8"))
        yield process


def _status(process: subprocess.Popen[str], job: Job) -> int:
    told, said = process.stdin, process.stdout
    if told is None or said is None:
        raise ValueError("the process has no pipes")
    told.write(json.dumps(job) + "\n")
    told.flush()
    return int(said.readline())


def _judged(name: str, status: int, output: str) -> Run:
    inputs = re.findall(r"^(\d+) inputs$", output, re.MULTILINE)
    covered = re.findall(r"cov: (\d+)", output)
    told = [line[:500] for line in output.splitlines() if not line.startswith(("INFO", "WARNING"))]
    tail = "\n".join(told[-_LAST_LINES:])
    return Run(name, int((inputs or ["0"])[-1]), int((covered or ["0"])[-1]), status != 0, tail)
