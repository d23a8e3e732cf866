"""One table as Parquet in each encoding, compression and page version that writers use.

Arrow writes every encoding that its reader has. DuckDB's version 2 writes the delta encodings and
BYTE_STREAM_SPLIT. ``AS_GO`` stands for files of parquet-go; Arrow writes them here: texts in
DELTA_LENGTH_BYTE_ARRAY without dictionary, in pages of version 2, without a schema of Arrow.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as papq

from tests.skips import optional

duckdb = optional("duckdb")

#: Rows enough for several pages and row groups.
ROWS = 3_000
TABLE = pa.table(
    {
        "network": [f"8.{row >> 8}.{row & 255}.0/24" for row in range(ROWS)],
        "country_code": ["CH", "NO", None] * (ROWS // 3),
        "city_name": [f"Stadt {row % 7} ü" for row in range(ROWS)],
        "latitude": [row / 100 for row in range(ROWS)],
        "asn": [64500 + row % 3 for row in range(ROWS)],
    }
)
_COMPRESSIONS = ("NONE", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4")
_TEXTS, _NUMBERS = ("network", "country_code", "city_name"), ("latitude", "asn")
_TEXT_ENCODINGS = ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY")
_INTEGER_ENCODINGS = ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
AS_GO: dict[str, Any] = {
    "use_dictionary": False,
    "column_encoding": "DELTA_LENGTH_BYTE_ARRAY",
    "data_page_version": "2.0",
    "store_schema": False,
}
DUCKDB_CODECS = ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw")
DUCKDB_VERSIONS = ("v1", "v2")


def _options() -> dict[str, dict[str, Any]]:
    go = dict.fromkeys(_TEXTS, "DELTA_LENGTH_BYTE_ARRAY")
    options: dict[str, dict[str, Any]] = {
        "as parquet-go": AS_GO | {"column_encoding": go},
        "dictionaries": {},
    }
    for texts, integers in zip(_TEXT_ENCODINGS, _INTEGER_ENCODINGS, strict=True):
        of_columns = {**dict.fromkeys(_TEXTS, texts), "asn": integers}
        of_columns["latitude"] = "PLAIN" if texts == "PLAIN" else "BYTE_STREAM_SPLIT"
        options[texts] = {"use_dictionary": False, "column_encoding": of_columns}
    # Dictionaries that are full after a few values: the writer goes on with plain pages.
    options["full dictionaries"] = {"dictionary_pagesize_limit": 100}
    # One column in each way.
    mixed = {"network": "DELTA_BYTE_ARRAY", "latitude": "BYTE_STREAM_SPLIT"}
    options["mixed"] = {"use_dictionary": ["city_name"], "column_encoding": mixed}
    return options


WRITTEN_AS = {
    f"{encoding}, {compression}, pages {version}": {
        **options, "compression": compression, "data_page_version": version
    }
    for encoding, options in _options().items()
    for compression in _COMPRESSIONS
    for version in ("1.0", "2.0")
}  # fmt: skip


def by_arrow(path: Path, name: str, table: pa.Table = TABLE) -> None:
    """Write a table as one entry of ``WRITTEN_AS``, in small pages and two row groups."""
    groups = {"row_group_size": len(table) // 2 + 1, "data_page_size": 1 << 10}
    papq.write_table(table, path, **WRITTEN_AS[name], **groups)


def by_duckdb(path: Path, version: str, codec: str, table: pa.Table = TABLE) -> None:
    """Write a table as DuckDB does."""
    with duckdb.connect() as connection:
        connection.register("rows", table)
        options = f"format parquet, parquet_version {version}, codec '{codec}'"
        connection.execute(f"copy rows to '{path}' ({options})")


def encodings(path: Path) -> set[str]:
    """The encodings of the columns of a file."""
    metadata = papq.ParquetFile(path).metadata
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(metadata.num_columns)]
    return {encoding for column in columns for encoding in column.encodings}
