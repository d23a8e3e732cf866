"""The tests of benchmarks share generated data with each other, and with no measurement."""

from __future__ import annotations

import json
import re
import shlex
import sysconfig
from collections.abc import Callable, Iterator
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import main
from benchmarks.data import cache
from tests.datasets import once

#: The facts of the machine that every result has.
MACHINE = {"python", "implementation", "system", "machine", "cores", "pinned"}
#: The C compiler that built this Python.
COMPILER = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
Run = Callable[..., str]
Measured = Callable[..., tuple[Any, str]]


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Data of tests must not push out data to measure.
    folder = tmp_path_factory.mktemp("cache")
    for made in once("benchmarks-tiny", _make).iterdir():
        (folder / made.name).symlink_to(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", folder)
        yield


def _make(folder: Path) -> None:
    """Make the tiny dataset and its MMDB, if there is what writes that."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "FOLDER", folder)
        cache.dataset("tiny")
        if find_spec("mmdb_writer"):
            cache.mmdb("tiny")


@pytest.fixture(scope="session")
def dataset() -> Path:
    return cache.dataset("tiny")


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a benchmark; returns its output."""

    def printed(*arguments: str) -> str:
        done = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return printed


@pytest.fixture
def measured(run: Run, tmp_path: Path) -> Measured:
    """Run a benchmark; returns its result and its output."""

    def both(*arguments: str) -> tuple[Any, str]:
        target = tmp_path / "result.json"
        printed = run(*arguments, "--json", str(target))
        return json.loads(target.read_text(encoding="utf-8")), printed

    return both


def check_drawn(plots: Path, printed: str) -> None:
    """Each text of a picture is printed too."""
    svgs = sorted(plots.glob("*.svg"))
    assert svgs
    assert {path.stem for path in svgs} == {path.stem for path in plots.glob("*.png")}
    labels = [label for svg in svgs for label in _labels(svg)]
    assert any(re.search(r"\d", label) for label in labels)
    text = " ".join(printed.split())
    for label in labels:
        assert re.sub(r" (?:ns|us|ms|MB/s|M/s)$| \(.*\)$|(?:, )?logarithmic$", "", label) in text


def _labels(svg: Path) -> Iterator[str]:
    for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg.read_text(encoding="utf-8")):
        yield " ".join(unescape(text).split())
