"""Own columns of sources: whole numbers in floats, and the report of private space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq

import geolookup
from tests.conftest import build_at


def test_whole_numbers_that_a_file_states_as_floats(tmp_path: Path) -> None:
    """JSON has one type of numbers; pandas makes floats of integers beside nulls."""
    numbers = [5, 12345678901, 1 - (1 << 53), 1 << 60, None]
    lines = [
        f'{{"network": "8.8.{at}.0/24", "id": {json.dumps(n)}}}' for at, n in enumerate(numbers)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ids = pa.array([None if n is None else float(n) for n in numbers])
    table = pa.table({"network": [f"8.8.{at}.0/24" for at in range(len(numbers))], "id": ids})
    exact = table.set_column(1, "id", pa.array(numbers))
    papq.write_table(exact, tmp_path / "a.parquet")
    for source, known in (
        (tmp_path / "a.jsonl", [*numbers[:3], None, None]),
        (table, [*numbers[:3], None, None]),
        (tmp_path / "a.parquet", numbers),
    ):
        report = geolookup.build(
            sources=[source],
            columns={"id": "integer"},
            output=tmp_path / "d",
            force=True,
            max_nulled=2,
        )
        nulled = known.count(None) - 1
        assert report.sources[0].nulled.total() == nulled, "a float beyond 2^53 is not exact"
        with geolookup.open(tmp_path / "d") as engine:
            answers = [engine.own(f"8.8.{at}.1") for at in range(len(numbers))]
        assert answers == [{"id": number} for number in known]


def built(folder: Path, columns: str, files: dict[str, str | bytes], *sources: str) -> Any:
    """The dataset and the report of sources of one recipe."""
    tables = "".join(f"[[source]]\n{source}\n" for source in sources)
    return build_at(folder, files, f'[dataset]\nname = "own"\n[columns]\n{columns}\n{tables}')


def test_the_report_counts_rows_in_special_purpose_space(tmp_path: Path) -> None:
    columns = 'site = { type = "text", private = true }\nrisk = "integer"'
    files: dict[str, str | bytes] = {
        "a.csv": "network,site,risk\n10.0.0.0/31,a,1\n8.8.8.0/24,b,2\n",
        "b.csv": "network,site\n10.1.0.0/32,b\n",
        "c.csv": "network,risk\n10.2.0.0/32,3\n8.8.4.0/24,4\n",
    }
    sources = (f'format = "csv"\npath = "{name}"' for name in files)
    _, report = built(tmp_path, columns, files, *sources)
    lines = [
        [line for line in source.lines() if " in special" in line] for source in report.sources
    ]
    kept = "addresses in special-purpose space, kept for own.site"
    assert lines == [
        [
            "  clipped     1 row, 2 addresses in special-purpose space",
            f"  private     1 row, 2 {kept}",
        ],
        ["  private     1 row, 1 address in special-purpose space, kept for own.site"],
        ["  clipped     1 row, 1 address in special-purpose space"],
    ]
    assert [source.used for source in report.sources] == [2, 1, 1]
    assert report.coverage["own.site"] == {"ipv4": 259, "ipv6": 0}
