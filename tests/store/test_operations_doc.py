"""What docs/operations.md shows is what happens, in order; an ellipsis stands for what differs."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, build_at

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|python)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def shown(kind: str) -> str:
    return "".join(text for found, text in BLOCKS if found == kind)


def test_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = '[dataset]\nname = "acme-geo"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
    for day in ("Monday", "Tuesday"):
        built, _ = build_at(tmp_path, {"a.csv": f"network,city_name\n8.8.8.0/24,{day}\n"}, recipe)
        built.rename(tmp_path / day.lower())
    monkeypatch.chdir(tmp_path)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sessions = re.split(r"^\$ ", shown("console"), flags=re.MULTILINE)[1:]
    assert len(sessions) >= 6
    for session in sessions:
        command, _, output = session.partition("\n")
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pattern = ".*".join(map(re.escape, output.split("…")))
        matched = re.match(pattern, done.stdout)
        assert matched, (command, done.stdout)

    test = doctest.DocTestParser().get_doctest(shown("python"), {}, "operations", None, 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.tries >= 3
    assert runner.failures == 0
