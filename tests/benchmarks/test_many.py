"""``many`` prints its tables; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.conftest import MACHINE, Run
from tests.conftest import ROOT


@pytest.mark.long
def test_many_prints_tables_and_writes_json(dataset: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "many.json"
    options = ("--scale", "tiny", "--addresses", "50", "--rounds", "2", "--no-peers")
    printed = run("many", *options, "--json", str(target))
    result = json.loads(target.read_text(encoding="utf-8"))
    assert {"lookup_many", "lookup_many_json", "iter_json"} <= set(result["results"])
    assert all(f"\n{name} " in printed for name in result["results"])
    assert set(result["rates"]) == {"zipf", "uniform"}
    assert set(result["machine"]) == MACHINE
    assert str(ROOT) not in printed + target.read_text(encoding="utf-8")
