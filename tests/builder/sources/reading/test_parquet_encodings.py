"""Parquet in every encoding: the rows that a source states do not depend on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq
import pytest

from geolookup.errors import BuildError
from tests import parquet_encodings
from tests.internals.builder import Layout, from_networks, members, parquet, typed_columns
from tests.internals.filesystem import limits
from tests.parquet_encodings import DUCKDB_CODECS, DUCKDB_VERSIONS, TABLE, WRITTEN_AS
from tests.skips import needs, optional
from tests.tiers import one_of_each

duckdb = optional("duckdb")
FIELDS = tuple(name for name in TABLE.column_names if name != "network")
LAYOUT = Layout(tuple(TABLE.column_names), frozenset({"network"}), frozenset(FIELDS))


def read(path: Path, layout: Layout = LAYOUT) -> pa.Table:
    """The rows of a file as the reader of sources delivers them: every cell a text."""
    names = sorted(layout.texts | layout.fields)

    def meaning(rows: pa.RecordBatch) -> Any:
        columns = {name: rows.column(name).cast(pa.string()) for name in names}
        encoded = {name: column.dictionary_encode() for name, column in columns.items()}
        return from_networks(rows.column("network")), encoded

    [member] = members(path.name, path.parent, (".parquet",))
    parts = [
        pa.table({name: batch.fields[name].cast(pa.string()) for name in names})
        for batch in parquet.batches(member, layout, meaning)
    ]
    return pa.concat_tables(parts)


def as_texts(table: pa.Table) -> pa.Table:
    names = sorted(table.column_names)
    columns = {name: table[name].combine_chunks().cast(pa.string()) for name in names}
    return pa.table(columns)


@pytest.mark.parametrize("name", one_of_each(WRITTEN_AS, lambda name: name.partition(",")[0]))
def test_what_arrow_writes(tmp_path: Path, name: str) -> None:
    parquet_encodings.by_arrow(tmp_path / "a.parquet", name)
    assert read(tmp_path / "a.parquet").equals(as_texts(TABLE))


@needs("duckdb")
@pytest.mark.parametrize("codec", DUCKDB_CODECS)
@pytest.mark.parametrize("version", DUCKDB_VERSIONS)
def test_what_duckdb_writes(tmp_path: Path, version: str, codec: str) -> None:
    parquet_encodings.by_duckdb(tmp_path / "a.parquet", version, codec)
    assert read(tmp_path / "a.parquet").equals(as_texts(TABLE))


@needs("duckdb")
def test_the_files_have_every_encoding(tmp_path: Path) -> None:
    """Of those that are for values; BIT_PACKED and RLE are for levels and Booleans."""
    path, met = tmp_path / "a.parquet", set[str]()
    for name in WRITTEN_AS:
        parquet_encodings.by_arrow(path, name)
        met |= parquet_encodings.encodings(path)
    assert met >= {
        *("PLAIN", "RLE_DICTIONARY", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY"),
        *("DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"),
    }
    parquet_encodings.by_duckdb(path, "v2", "zstd")
    assert parquet_encodings.encodings(path) >= {"DELTA_LENGTH_BYTE_ARRAY", "BYTE_STREAM_SPLIT"}


@needs("duckdb")
def test_an_encoding_that_changes_within_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB chooses it for each row group; the rows before the change are not read twice."""
    monkeypatch.setattr(typed_columns, "BATCH_ROWS", 1_000)
    rows, path = 3 * 2048, tmp_path / "a.parquet"
    numbers = [row % 3 if row < rows // 3 else row for row in range(rows)]
    networks = [f"8.{number >> 8}.{number & 255}.0/24" for number in numbers]
    cities = [f"city {number}" for number in numbers]
    table = pa.table({"network": networks, "city_name": cities, "none": [None] * rows})
    with duckdb.connect() as connection:
        connection.register("rows", table)
        options = "format parquet, parquet_version v2, row_group_size 2048"
        connection.execute(f"copy rows to '{path}' ({options})")
    metadata = papq.ParquetFile(path).metadata
    met = [metadata.row_group(group).column(1).encodings for group in (0, 2)]
    assert met == [("RLE_DICTIONARY",), ("DELTA_LENGTH_BYTE_ARRAY",)]
    layout = Layout(("network", "city_name"), frozenset({"network"}), frozenset({"city_name"}))
    assert read(path, layout)["city_name"].to_pylist() == cities


def test_a_long_value_in_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix that is stored once, or an item of a list: few rows are decoded at once."""
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 4 << 20)
    rows, long = 400, "x" * (1 << 15)
    networks = TABLE["network"].slice(0, rows)
    prefixes = pa.table({"network": networks, "city_name": [long] * rows})
    lists = pa.table({"network": networks, "names": [[long]] * rows})
    delta = {"use_dictionary": False, "column_encoding": {"city_name": "DELTA_BYTE_ARRAY"}}
    for table, field, options in ((prefixes, "city_name", delta), (lists, "names", {})):
        path = tmp_path / "a.parquet"
        papq.write_table(table, path, compression="zstd", store_schema=False, **options)
        assert path.stat().st_size < 1 << 15
        fields = frozenset({field})
        layout = Layout(("network", field), frozenset({"network"}), fields, lists=fields)
        with pytest.raises(BuildError, match="unpacks to over"):
            read(path, layout)
