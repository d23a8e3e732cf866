"""``export`` writes with both writers, compares the files and prints what it promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.export.writers import OURS, THEIRS
from tests.benchmarks.conftest import MACHINE, Run

pytest.importorskip("mmdb_writer")
pytest.importorskip("maxminddb")


@pytest.mark.long
def test_both_writers_and_their_ratios(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    printed = run("export", "--scale", "tiny", "--rounds", "1", "--json", str(target))
    result = json.loads(target.read_text(encoding="utf-8"))
    assert set(result["rows"]) == {OURS, THEIRS}
    assert result["rows"][OURS]["bytes"] <= result["rows"][THEIRS]["bytes"]
    assert set(result["machine"]) == MACHINE
    assert f"{result['compared']:,} records compared, all equal" in printed
    assert printed.count(">= 20x") == 1
