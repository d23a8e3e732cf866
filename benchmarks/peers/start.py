"""Cold start: a whole process from nothing to its first answer, beside a bare interpreter.

Strategy: the interpreter belongs to a virtual environment made for this, whose
one path file names the packages: what an editable installation or a tool puts
into every start is not in it. The programs take turns; the median counts.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import measure
from benchmarks.harness.processes import ROOT
from benchmarks.peers.contenders import Contender
from benchmarks.peers.libraries import Files

BARE = "bare interpreter"
#: What a lookup must not load.
HEAVY = ("numpy", "pyarrow")
_SAY_HEAVY = f"\nprint(*[each for each in {HEAVY} if each in sys.modules])"


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start, with its arguments and environment variables."""

    text: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


def programs(contenders: Iterable[Contender], files: Files, address: str) -> dict[str, Program]:
    """Return the programs of those that have one, and the bare interpreter."""
    result = {BARE: Program("pass")}
    for contender in contenders:
        if contender.start:
            file = str(getattr(files, contender.reads)) if contender.reads else ""
            kernel = (("GEOLOOKUP_KERNEL", contender.kernel),) if contender.kernel else ()
            result[contender.name] = Program(contender.start, (file, address), kernel)
    return result


def measure_starts(programs: Mapping[str, Program], rounds: int) -> dict[str, Any]:
    """Return the median milliseconds of each program, and what heavy modules it loads."""
    with tempfile.TemporaryDirectory() as folder, measure.one_core():
        python = _interpreter(Path(folder))
        heavy = {name: _heavy(python, program) for name, program in programs.items()}
        times: dict[str, list[float]] = {name: [] for name in programs}
        for _, (name, program) in itertools.product(range(rounds), programs.items()):
            times[name].append(_run(python, program))
    return {
        name: {"median_ms": statistics.median(times[name]), "rounds": times[name], "loads": loads}
        for name, loads in heavy.items()
    }


def _interpreter(folder: Path) -> Path:
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "benchmark.pth").write_text("\n".join(dict.fromkeys(paths)), encoding="utf-8")
    return Path(sysconfig.get_path("scripts", "venv", scheme)) / Path(sys.executable).name


def _run(python: Path, program: Program) -> float:
    """Run a program to its end; return milliseconds."""
    began = time.perf_counter()
    _output(python, program, program.text)
    return (time.perf_counter() - began) * 1e3


def _heavy(python: Path, program: Program) -> list[str]:
    """Return the heavy modules that a program loads; the run also writes the bytecode files."""
    output = _output(python, program, f"import sys\n{program.text}{_SAY_HEAVY}")
    return output.splitlines()[-1].split()  # a program can print too


def _output(python: Path, program: Program, text: str) -> str:
    command = [str(python), "-I", "-c", text, *program.arguments]
    environment = {**os.environ, **dict(program.environment)}
    run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
    return run.stdout.decode()
