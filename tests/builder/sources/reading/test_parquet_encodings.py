"""Parquet in every encoding: the rows that a source states do not depend on it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as papq
import pytest

from tests import parquet_encodings
from tests.builder.sources.readings import Read, fails, one
from tests.internals.builder import typed_columns
from tests.internals.filesystem import limits
from tests.parquet_encodings import DUCKDB_CODECS, DUCKDB_VERSIONS, TABLE, WRITTEN_AS
from tests.skips import needs, optional
from tests.tiers import one_of_each

duckdb = optional("duckdb")
#: A latitude has no meaning alone.
AS_TEXT = 'columns = { postal_code = "latitude" }'


def check(read: Read, table: pa.Table = TABLE) -> None:
    """The Parquet file in the folder states what the CSV of its table states."""
    stream = io.BytesIO()
    pacsv.write_csv(table, stream)
    options = [AS_TEXT] * ("latitude" in table.column_names)
    expected = read({"a.csv": stream.getvalue()}, one("csv", "a.csv", *options))
    actual = read({}, one("parquet", "a.parquet", *options))
    assert actual.source.read == len(table)
    assert actual.ranges() == expected.ranges()


@pytest.mark.parametrize("name", one_of_each(WRITTEN_AS, lambda name: name.partition(",")[0]))
def test_what_arrow_writes(read: Read, tmp_path: Path, name: str) -> None:
    parquet_encodings.by_arrow(tmp_path / "a.parquet", name)
    check(read)


@needs("duckdb")
@pytest.mark.parametrize("codec", DUCKDB_CODECS)
@pytest.mark.parametrize("version", DUCKDB_VERSIONS)
def test_what_duckdb_writes(read: Read, tmp_path: Path, version: str, codec: str) -> None:
    parquet_encodings.by_duckdb(tmp_path / "a.parquet", version, codec)
    check(read)


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
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB chooses it for each row group; the rows before the change are not read twice."""
    monkeypatch.setattr(typed_columns, "BATCH_ROWS", 1_000)
    rows, path = 3 * 2048, tmp_path / "a.parquet"
    networks = [f"8.{row >> 8}.{row & 255}.0/24" for row in range(rows)]
    cities = [f"city {row % 3 if row < rows // 3 else row}" for row in range(rows)]
    table = pa.table({"network": networks, "city_name": cities})
    with duckdb.connect() as connection:
        connection.register("rows", table)
        options = "format parquet, parquet_version v2, row_group_size 2048"
        connection.execute(f"copy rows to '{path}' ({options})")
    metadata = papq.ParquetFile(path).metadata
    met = [metadata.row_group(group).column(1).encodings for group in (0, 2)]
    assert met == [("RLE_DICTIONARY",), ("DELTA_LENGTH_BYTE_ARRAY",)]
    check(read, table)


def test_a_long_value_in_each_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prefix that is stored once, or an item of a list: few rows are decoded at once."""
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 4 << 20)
    rows, long = 400, "x" * (1 << 15)
    networks = TABLE["network"].slice(0, rows)
    delta = {"use_dictionary": False, "column_encoding": {"city_name": "DELTA_BYTE_ARRAY"}}
    cases: tuple[tuple[list[Any], str, dict[str, Any]], ...] = (
        ([long] * rows, "city_name", delta),
        ([[long]] * rows, "tags", {}),
    )
    path = tmp_path / "a.parquet"
    for values, column, options in cases:
        table = pa.table({"network": networks, column: values})
        papq.write_table(table, path, compression="zstd", store_schema=False, **options)
        assert path.stat().st_size < 1 << 15
        recipe = '[columns]\ntags = "texts"\n' + one("parquet", "a.parquet")
        error = fails(tmp_path, {}, recipe)
        assert "unpacks to over" in error.problem
