"""``report`` writes the pages and prints what they took; no time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import geolookup
from benchmarks.report import command
from tests.benchmarks.conftest import MACHINE, Run

for _needed in ("jinja2", "PIL", "vl_convert"):
    pytest.importorskip(_needed, reason="[report] writes the pages")


@pytest.mark.long
def test_each_page_has_a_row_and_its_bounds(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    printed = run("report", "--scale", "tiny", "--addresses", "500", "--json", str(target))
    result = json.loads(target.read_text(encoding="utf-8"))
    names = (command.DATASET, command.AGAINST, command.map_of(500))
    assert tuple(result["rows"]) == names
    for name in names:
        assert f"\n{name} " in printed
        assert result["rows"][name]["bytes"] > 10_000
        assert result["rows"][name]["cpu_seconds"] > 0
    assert set(result["machine"]) == MACHINE
    assert printed.count("<= 30 s") == printed.count("<= 6 MB") == len(names)


def test_the_rows_of_the_map_are_distinct_addresses_of_a_week(
    dataset: Path, tmp_path: Path
) -> None:
    command.write_rows(dataset, tmp_path / "rows.parquet", 300)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]
    rows = pq.read_table(tmp_path / "rows.parquet")
    assert len(rows["ip"].unique()) == len(rows) == 300
    instants = sorted(rows["time"].to_pylist())
    assert 6 < (instants[-1] - instants[0]).total_seconds() / 86_400 < 7
    with geolookup.open(dataset) as engine:
        assert (None,) not in engine.get_many(rows["ip"].to_pylist(), ["location.country_code"])
