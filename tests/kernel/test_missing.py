"""Whoever gets the Python kernel because the extension is missing is told so once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

#: Runs code as where the extension was not built.
UNKNOWN = "GEOLOOKUP_KERNEL is 'x'; write python or compiled, or unset it"
WITHOUT = "import sys; sys.modules['geolookup.kernel._compiled'] = None; "
TWICE = "import geolookup; [geolookup.open() for _ in range(2)]; print(geolookup.Engine.kernel)"
COMMAND = "from geolookup.cli import main; main()"
BENCHMARKS = "from benchmarks.__main__ import main; main()"


def run(code: str, *arguments: str, kernel: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "GEOLOOKUP_KERNEL": kernel},
        capture_output=True,
        text=True,
        check=False,
    )


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if "compiled kernel" in line]


def test_the_log_says_so_once() -> None:
    log = "import logging; logging.basicConfig(); "
    done = run(WITHOUT + log + TWICE)
    assert done.stdout == "python\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("WARNING:geolookup:the compiled kernel is missing")
    assert "C compiler" in line
    assert "pip install" in line


def test_sources_in_a_checkout_are_named(tmp_path: Path) -> None:
    log = "import logging; logging.basicConfig(); "
    assert (
        f"these are the sources in {ROOT}: run Python in another"
        in run(WITHOUT + log + TWICE).stderr
    )


@pytest.mark.parametrize("arguments", [("lookup", "8.8.8.8"), ("info",)])
def test_commands_say_so_in_one_line(arguments: tuple[str, ...]) -> None:
    done = run(WITHOUT + COMMAND, *arguments)
    assert done.returncode == 0
    assert len(told(done)) == 1
    assert "compiled kernel is missing" not in done.stdout


@pytest.mark.long
def test_a_build_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("network,country_code\n1.1.1.0/24,AU\n")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "a.csv"\n')
    done = run(WITHOUT + COMMAND, "build", str(recipe), "--output", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert len(told(done)) == 1


@pytest.mark.long
def test_benchmarks_refuse() -> None:
    done = run(WITHOUT + BENCHMARKS, "single", "--scale", "tiny")
    assert done.returncode == 1
    assert len(told(done)) == 1
    assert "GEOLOOKUP_KERNEL=python" in done.stderr


@pytest.mark.parametrize("code", [TWICE, COMMAND])
def test_whoever_asks_for_the_python_kernel_knows(code: str) -> None:
    done = run(WITHOUT + code, "info", kernel="python")
    assert "python" in done.stdout
    assert told(done) == []


def refusals(tmp_path: Path) -> list[tuple[str, ...]]:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "a.csv"\n')
    (tmp_path / "a.csv").write_text("network,country_code\n1.1.1.0/24,AU\n")
    return [
        ("lookup", "8.8.8.8"),
        ("info",),
        ("build", str(recipe), "--output", str(tmp_path / "out")),
    ]


@pytest.mark.parametrize(
    ("before", "kernel", "problem"),
    [
        (
            WITHOUT,
            "compiled",
            "GEOLOOKUP_KERNEL is 'compiled', but that kernel is missing",
        ),
        pytest.param(WITHOUT, "x", UNKNOWN, marks=pytest.mark.long),
        pytest.param("", "x", UNKNOWN, marks=pytest.mark.long),
    ],
)
def test_a_kernel_that_does_not_exist_is_refused(
    tmp_path: Path, before: str, kernel: str, problem: str
) -> None:
    for arguments in refusals(tmp_path):
        done = run(before + COMMAND, *arguments, kernel=kernel)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"geolookup: {problem}")
        assert len(done.stderr.splitlines()) == 1
    done = run(before + "import geolookup; geolookup.open()", kernel=kernel)
    assert f"geolookup.errors.SettingsError: {problem}" in done.stderr
    assert done.returncode == 1


def test_help_needs_no_kernel() -> None:
    assert run(COMMAND, "lookup", "--help", kernel="x").returncode == 0


def test_the_module_refuses_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "geolookup", "lookup", "8.8.8.8"],
        cwd=ROOT,
        env={**os.environ, "GEOLOOKUP_KERNEL": "x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
