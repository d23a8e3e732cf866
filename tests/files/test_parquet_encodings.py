"""Parquet in every encoding, read by the one reader of enrich, summarize, diff and score."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from geolookup import Engine
from tests import parquet_encodings
from tests.internals.files import (
    FileOptions,
    ReadOptions,
    enrich_file,
    open_table,
    table_file,
)
from tests.parquet_encodings import TABLE, WRITTEN_AS
from tests.tiers import one_of_each


def read(path: Path) -> pa.Table:
    options = ReadOptions(path.name, ("network",), "typed")
    with open_table(table_file(str(path), None, ""), options) as rows:
        return pa.Table.from_batches(rows.batches, rows.schema)


@pytest.mark.parametrize("name", one_of_each(WRITTEN_AS, lambda name: name.split(", ")[0]))
def test_what_arrow_writes(tmp_path: Path, name: str) -> None:
    parquet_encodings.by_arrow(tmp_path / "a.parquet", name)
    assert read(tmp_path / "a.parquet").equals(TABLE)


def test_enriched_rows_do_not_depend_on_the_encoding(sample: Engine, tmp_path: Path) -> None:
    table = pa.table({"ip": ["8.8.8.8", "1.1.1.1", None], "country_code": ["a", "b", "c"],
                      "network": ["x"] * 3, "city_name": ["y"] * 3, "latitude": [0.5] * 3,
                      "asn": [1, 2, 3]})  # fmt: skip
    options = FileOptions("ip", ("location.country_code", "network.asn"))
    outputs = set()
    for name in [name for name in WRITTEN_AS if "ZSTD, pages 2.0" in name]:
        parquet_encodings.by_arrow(tmp_path / "a.parquet", name, table)
        ends = [str(tmp_path / name) for name in ("a.parquet", "a.csv")]
        before, after = (table_file(end, None, "") for end in ends)
        enrich_file(sample, before, after, options)
        outputs.add((tmp_path / "a.csv").read_text(encoding="utf-8"))
    [output] = outputs
    assert "15169" in output
