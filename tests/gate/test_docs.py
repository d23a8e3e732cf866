"""docs/gate.md: the plans file that it shows has the plans that it describes."""

from __future__ import annotations

from pathlib import Path

from geolookup.gate import read_plans
from tests.conftest import ROOT
from tests.docs.blocks import blocks


def test_the_plans_file(tmp_path: Path) -> None:
    (shown,) = (each for each in blocks(ROOT / "docs" / "gate.md") if each.kind == "toml")
    path = tmp_path / "plans.toml"
    path.write_text(shown.text, encoding="utf-8")
    plans = read_plans(path)
    assert plans["startup"].quota == 1_000_000
    assert plans["enterprise"].leased
