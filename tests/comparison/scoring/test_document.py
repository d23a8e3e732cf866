"""docs/score.md is true: its sessions print what they show, its tables name what JSON has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from geolookup.comparison.scoring import Score, ScoredPart
from geolookup.comparison.scoring.gating import NAMES
from tests.conftest import ROOT
from tests.sessions import run, sessions

TEXT = (ROOT / "docs" / "score.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_sessions_print_what_is_shown(tmp_path: Path) -> None:
    found: list[tuple[str, str]] = []
    for kind, name, text in _BLOCK.findall(TEXT):
        if name:
            (tmp_path / name).write_text(text, encoding="utf-8")
        if kind == "console":
            found += sessions(text)
    assert len(found) == 5
    for command, shown in found:
        done = run(command, tmp_path)
        assert done.stderr == ""
        pattern = r"[^\n]*".join(re.escape(part) for part in shown.strip().split("…"))
        assert re.fullmatch(pattern, done.stdout.strip()), (command, done.stdout)


def test_the_example_is_of_the_rows_of_the_project() -> None:
    rows = (ROOT / "sample_data" / "places.csv").read_text(encoding="utf-8").splitlines()
    [text] = [text for _, name, text in _BLOCK.findall(TEXT) if name == "places.csv"]
    assert set(text.splitlines()) <= set(rows)


def test_metrics_are_told() -> None:
    for name in NAMES:
        assert f"`{name}`" in TEXT


def test_keys_of_the_json_are_told() -> None:
    section = TEXT.split("\n## JSON\n")[1].split("\n## ")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert told == {field.name for kind in (Score, ScoredPart) for field in fields(kind)}
