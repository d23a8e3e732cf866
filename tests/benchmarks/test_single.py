"""``single`` prints what it promises; what it measures is asserted nowhere."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.conftest import MACHINE, Run
from tests.conftest import ROOT


def test_single_prints_a_table_and_writes_json(dataset: Path, tmp_path: Path, run: Run) -> None:
    target = tmp_path / "single.json"
    options = ("--scale", "tiny", "--addresses", "50", "--rounds", "2", "--json", str(target))
    printed = run("single", *options)
    result = json.loads(target.read_text(encoding="utf-8"))
    kinds = {each["kind"] for each in result["results"]}
    assert len(kinds) == 8
    assert all(f"\n{kind} " in printed for kind in kinds)
    assert len(result["results"]) == 32
    assert result["call_overhead"] > 0
    assert result["kernel"] in ("compiled", "python")
    assert set(result["machine"]) == MACHINE
    assert str(ROOT) not in printed + target.read_text(encoding="utf-8")
