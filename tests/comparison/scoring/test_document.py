"""docs/score.md is true: its sessions print what they show, its tables name what JSON has."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from geolookup.comparison.scoring import Score, ScoredPart
from geolookup.comparison.scoring.gating import NAMES
from tests.conftest import ROOT
from tests.sessions import assert_sessions, blocks

TEXT = (ROOT / "docs" / "score.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_sessions_print_what_is_shown(tmp_path: Path) -> None:
    assert_sessions(TEXT, tmp_path, commands=5, ellipsis=r"[^\n]*")


def test_the_example_is_of_the_rows_of_the_project() -> None:
    rows = (ROOT / "sample_data" / "places.csv").read_text(encoding="utf-8").splitlines()
    [text] = [text for _, name, text in blocks(TEXT) if name == "places.csv"]
    assert set(text.splitlines()) <= set(rows)


def test_metrics_are_told() -> None:
    for name in NAMES:
        assert f"`{name}`" in TEXT


def test_keys_of_the_json_are_told() -> None:
    section = TEXT.split("\n## JSON\n")[1].split("\n## ")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert told == {field.name for kind in (Score, ScoredPart) for field in fields(kind)}
