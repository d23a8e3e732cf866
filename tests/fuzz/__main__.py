"""Fuzz the parts that read what others wrote, with atheris.

``python -m tests.fuzz NAME`` or ``all``; ``--help`` has the rest. Seeds, what was learnt and what
was found are kept in ``.fuzz/``, which git ignores. Exit status 1: something was found, and the
input lies in ``.fuzz/found``. A finding becomes a test beside the others of its module.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT
from tests.fuzz.recorded import FOLDER, record
from tests.fuzz.targets import TARGETS

_HOME = ROOT / ".fuzz"
_RECORDED = _HOME / "recorded"
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


def main(arguments: list[str]) -> int:
    given = _arguments(arguments)
    if given.input:
        for path in given.input:
            TARGETS[given.name].run(path.read_bytes())
        return 0
    if given.fresh or not _RECORDED.is_dir():
        _record_anew()
    os.environ[FOLDER] = str(_RECORDED)
    names = list(TARGETS) if given.name == "all" else [given.name]
    workers = min(os.cpu_count() or 1, len(names))
    seconds = max(1, given.seconds * workers // len(names))
    with ThreadPoolExecutor(workers) as pool:
        runs = []
        for run in pool.map(lambda name: fuzzed(name, seconds, given.seed), names):
            print(run.line(), *([run.output] if run.found else []), sep="\n", flush=True)
            runs.append(run)
    return int(any(run.found for run in runs))


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("name", choices=["all", *TARGETS])
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the mutations; 0: another each time"
    )
    parser.add_argument("--fresh", action="store_true", help="record the readers' seeds anew")
    parser.add_argument("--input", type=Path, nargs="+", help="run these inputs, without atheris")
    return parser.parse_args(arguments)


def _record_anew() -> None:
    if _RECORDED.is_dir():
        for path in _RECORDED.iterdir():
            path.unlink()
        _RECORDED.rmdir()
    record(_RECORDED)


def fuzzed(name: str, seconds: int, seed: int) -> Run:
    """Fuzz one target and return what came of it."""
    corpus, found = _HOME / "corpus" / name, _HOME / "found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    seeds = list(TARGETS[name].seeds())
    for data in seeds:
        (corpus / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    longest = max(4096, 2 * max(map(len, seeds)))
    options = (
        *(f"-seed={seed}", f"-timeout={_TIME_LIMIT}"),
        *(f"-rss_limit_mb={_MEMORY_LIMIT_MB}", f"-max_len={longest}"),
        *(f"-artifact_prefix={found}/{name}-", str(corpus)),
    )
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.one", name, str(seconds), str(found), *options],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": folder},
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
