"""``prefixes`` times lists that have prefixes, and prints what it promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.prefixes.command import COUNTRY, EVERY_AS
from tests.benchmarks.conftest import MACHINE, Run


@pytest.mark.long
def test_the_table_and_its_bounds(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    printed = run("prefixes", "--scale", "tiny", "--rounds", "2", "--json", str(target))
    result = json.loads(target.read_text(encoding="utf-8"))
    assert 0 < result["prefixes"][COUNTRY] < result["prefixes"][EVERY_AS]
    assert [len(each) for each in result["rows"].values()] == [2, 2]
    assert set(result["machine"]) == MACHINE
    assert "<= 0.3 s" in printed
    assert "<= 2 s" in printed
