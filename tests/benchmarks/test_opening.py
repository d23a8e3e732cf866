"""``opening`` prints what it promises; what it measures is asserted nowhere."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.conftest import MACHINE, Run
from tests.conftest import ROOT


def test_opening_prints_a_table_and_writes_json(tmp_path: Path, run: Run) -> None:
    target = tmp_path / "opening.json"
    printed = run("opening", "--rounds", "2", "--starts", "1", "--json", str(target))
    result = json.loads(target.read_text(encoding="utf-8"))
    assert list(result["datasets"]) == ["bundled", "small"]
    for name, each in result["datasets"].items():
        assert f"\n{name} " in printed
        assert min(each.values()) > 0
    assert result["datasets"]["bundled"]["bytes"] > 20 * result["datasets"]["small"]["bytes"]
    assert set(result["machine"]) == MACHINE
    assert str(ROOT) not in printed + target.read_text(encoding="utf-8")
