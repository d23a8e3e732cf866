"""docs/score.md is true: its rows are the project's, its tables name what JSON has."""

from __future__ import annotations

import re
from dataclasses import fields

from geolookup.comparison.scoring import Score, ScoredPart
from geolookup.comparison.scoring.gating import NAMES
from tests.conftest import ROOT
from tests.docs.blocks import blocks

PAGE = ROOT / "docs" / "score.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_example_is_of_the_rows_of_the_project() -> None:
    rows = (ROOT / "sample_data" / "places.csv").read_text(encoding="utf-8").splitlines()
    [text] = [each.text for each in blocks(PAGE) if each.name == "places.csv"]
    assert set(text.splitlines()) <= set(rows)


def test_metrics_are_told() -> None:
    for name in NAMES:
        assert f"`{name}`" in TEXT


def test_keys_of_the_json_are_told() -> None:
    section = TEXT.split("\n## JSON\n")[1].split("\n## ")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    assert told == {field.name for kind in (Score, ScoredPart) for field in fields(kind)}
