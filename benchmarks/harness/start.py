"""Cold start: a whole process from nothing to its first answer, beside a bare interpreter.

The interpreter belongs to a virtual environment made for this, whose one path file names the
packages: what an editable installation or a tool puts into every start is not in it. The programs
take turns; the median counts.
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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import measure
from benchmarks.harness.processes import ROOT

BARE = "bare interpreter"


@dataclass(frozen=True, slots=True)
class Program:
    """A program to start, with its arguments and environment variables."""

    text: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def measure_starts(programs: Mapping[str, Program], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each program, and of a bare interpreter."""
    programs = {**programs, BARE: Program("pass")}
    times: dict[str, list[float]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as folder, measure.on_cores(1):
        python = _interpreter(Path(folder))
        for at, (name, program) in itertools.product(range(rounds + 1), programs.items()):
            took = _run(python, program)
            if at:  # the first start writes the bytecode files
                times[name].append(took)
    return {name: statistics.median(rounds_of) for name, rounds_of in times.items()}


def _interpreter(folder: Path) -> Path:
    venv.create(folder, symlinks=os.name != "nt", with_pip=False)
    scheme = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", "venv", scheme))
    paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "benchmark.pth").write_text("\n".join(dict.fromkeys(paths)), encoding="utf-8")
    return Path(sysconfig.get_path("scripts", "venv", scheme)) / Path(sys.executable).name


def _run(python: Path, program: Program) -> float:
    """Run a program to its end; return milliseconds."""
    command = [str(python), "-I", "-c", program.text, *program.arguments]
    environment = {**os.environ, **program.environment}
    began = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) * 1e3
