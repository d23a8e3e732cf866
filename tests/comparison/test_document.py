"""docs/diff.md is true: its tables name what JSON has."""

from __future__ import annotations

import re
from dataclasses import fields

from geolookup.comparison import Comparison, Part
from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")


def test_keys_of_the_json_are_told() -> None:
    section = TEXT.split("\n## JSON\n")[1].split("\n## ")[0]
    told = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert told == {field.name for kind in (Comparison, Part) for field in fields(kind)} | {"gates"}
