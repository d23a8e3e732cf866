"""What docs/gate.md shows is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from geolookup.gate import read_plans
from tests.conftest import ROOT
from tests.sessions import run, sessions
from tests.test_readme import _BLOCK, _pattern

GATE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
BLOCKS = {kind: text for kind, _, text in _BLOCK.findall(GATE)}


def test_the_console_session(tmp_path: Path) -> None:
    found = list(sessions(BLOCKS["console"]))
    assert len(found) == 4
    for command, shown in found:
        done = run(command, tmp_path)
        assert done.returncode == 0, done.stderr
        assert re.fullmatch(_pattern(shown), done.stdout), (command, done.stdout)


def test_the_python_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(BLOCKS["python"], {}, "gate.md", "gate.md", 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries > 5
    assert runner.failures == 0


def test_the_plans_file(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text(BLOCKS["toml"], encoding="utf-8")
    plans = read_plans(path)
    assert plans["startup"].quota == 1_000_000
    assert plans["enterprise"].leased
