"""What docs/operations.md shows is what happens, in order; an ellipsis stands for what differs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, build_at
from tests.sessions import run, sessions

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|python)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def shown(kind: str) -> str:
    return "".join(text for found, text in BLOCKS if found == kind)


@pytest.mark.long
def test_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = '[dataset]\nname = "acme-geo"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
    for day in ("Monday", "Tuesday"):
        built, _ = build_at(tmp_path, {"a.csv": f"network,city_name\n8.8.8.0/24,{day}\n"}, recipe)
        built.rename(tmp_path / day.lower())
    monkeypatch.chdir(tmp_path)
    found = list(sessions(shown("console")))
    assert len(found) >= 6
    for command, output in found:
        done = run(command, tmp_path)
        assert done.returncode == 0, done.stderr
        pattern = ".*".join(map(re.escape, output.split("…")))
        matched = re.match(pattern, done.stdout)
        assert matched, (command, done.stdout)

    test = doctest.DocTestParser().get_doctest(shown("python"), {}, "operations", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries >= 3
    assert runner.failures == 0
