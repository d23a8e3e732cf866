"""docs/diff.md and docs/score.md are true: they name each metric, and what the JSON has."""

from __future__ import annotations

import re
from dataclasses import fields

from geolookup.comparison import Comparison, Part, metrics, scoring
from geolookup.comparison.scoring import gating
from tests.conftest import ROOT
from tests.docs.blocks import blocks

SCORE = ROOT / "docs" / "score.md"


def test_metrics_and_keys_of_the_json_are_told() -> None:
    for name, kinds, more, measured in (
        ("diff", (Comparison, Part), {"gates"}, metrics.NAMES),
        ("score", (scoring.Score, scoring.ScoredPart), set[str](), gating.NAMES),
    ):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        section = text.split("\n## JSON\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
        told = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
        assert told == {field.name for kind in kinds for field in fields(kind)} | more
        for metric in measured:
            kind, _, field = metric.partition(".")
            assert f"`{kind}{'.FIELD' if field else ''}`" in text, metric


def test_the_example_is_of_the_rows_of_the_project() -> None:
    rows = (ROOT / "sample_data" / "places.csv").read_text(encoding="utf-8").splitlines()
    [text] = [each.text for each in blocks(SCORE) if each.name == "places.csv"]
    assert set(text.splitlines()) <= set(rows)
