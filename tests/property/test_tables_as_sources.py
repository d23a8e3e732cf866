"""Tables in memory make the dataset that CSV files of the same rows make.

Strategy: random sources, written as CSV and as tables of Arrow (in chunks), pandas and Polars, with
plain and with encoded texts. All files of the datasets but the manifest must be equal to the byte;
of the manifest, all but the names and the format of the sources.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as papq
import pytest
from geolookup_builder.sources.reading import typed_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.dataset.layout import MANIFEST
from geolookup.dataset.manifest import read_manifest
from tests.oracle import Source
from tests.property.compiled import built, content
from tests.range_strategies import as_csv, recipes
from tests.skips import needs, optional
from tests.tiers import scaled

pd, pl = optional("pandas"), optional("polars")
Table = Callable[[pa.Table, list[int]], Any]


def table_of(source: Source) -> pa.Table:
    """The rows of the CSV as texts; an empty cell is null."""
    header, *rows = csv.reader(io.StringIO(as_csv(source), newline=""))
    columns = zip(*rows, strict=True) if rows else [() for _ in header]
    return pa.table(
        {
            name: pa.array([cell or None for cell in cells], pa.string())
            for name, cells in zip(header, columns, strict=True)
        }
    )


def chunked(table: pa.Table, cuts: list[int]) -> pa.Table:
    """The table in chunks, some without rows."""
    ends = sorted({min(cut, len(table)) for cut in cuts} | {len(table)})
    begins = [0, *ends]
    parts = [table.slice(begin, end - begin) for begin, end in zip(begins, ends, strict=False)]
    return pa.concat_tables(parts)


def encoded(table: pa.Table, cuts: list[int]) -> pa.Table:
    """Chunks with dictionaries of their own."""
    parts = [
        pa.table({name: batch[name].dictionary_encode() for name in table.schema.names})
        for batch in chunked(table, cuts).to_batches()
    ]
    return pa.concat_tables(parts) if parts else table


TABLES: dict[str, Table] = {
    "arrow": chunked,
    "dictionaries": encoded,
    "stream": lambda table, cuts: chunked(table, cuts).to_reader(),
    "views": lambda table, _: table.cast(
        pa.schema([(name, pa.string_view()) for name in table.schema.names])
    ),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas objects": lambda table, _: table.to_pandas().astype(object),
    "pandas categories": lambda table, _: table.to_pandas().astype("category"),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars categories": lambda table, _: pl.from_arrow(table).cast(pl.Categorical),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
}


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=needs(*{"pandas", "polars"} & set(kind.split()))) for kind in TABLES],
)
@settings(max_examples=scaled(2, 30), suppress_health_check=list(HealthCheck))
@given(recipes, st.lists(st.integers(0, 30), max_size=3))
def test_tables_make_the_dataset_of_their_csv(
    kind: str, listed: list[Source], cuts: list[int]
) -> None:
    """Tables are read a few rows at a time."""
    with TemporaryDirectory() as folder, mock.patch.object(typed_rows, "BATCH_ROWS", 5):
        of_files = built(Path(folder) / "files", listed)
        of_tables = Path(folder) / "tables"
        geolookup.build(
            sources=[
                {"table": TABLES[kind](table_of(source), cuts), "empty": "ok"}
                | ({} if source.fields is None else {"fields": sorted(source.fields)})
                for source in listed
            ],
            output=of_tables,
            max_rejects=10**9,
        )
        files, tables = content(of_files), content(of_tables)
        files.pop(MANIFEST), tables.pop(MANIFEST)
        assert tables == files
        assert described(of_tables) == described(of_files)


def described(dataset: Path) -> Any:
    metadata = read_manifest(dataset).metadata()
    sources = [(source.rows, source.coverage, source.date) for source in metadata.sources]
    return sources, metadata.fields, metadata.counts, metadata.coverage


OWN: dict[str, Any] = {
    "site_id": {"type": "text", "private": True},
    "risk": "integer",
    "share": "real",
    "is_vpn": {"type": "boolean", "group": "threat"},
    "tags": "texts",
}
_SCHEMA = pa.schema(
    {
        "network": pa.string(),
        "site_id": pa.string(),
        "risk": pa.int64(),
        "share": pa.float64(),
        "is_vpn": pa.bool_(),
        "tags": pa.list_(pa.string()),
    }
)
_TEXTS = st.text(max_size=4)
_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "network": st.sampled_from(("8.8.8.0/24", "8.8.0.0/16", "10.0.0.0/8", "fd00::/8")),
            "site_id": st.none() | _TEXTS,
            "risk": st.none() | st.integers(1 - (1 << 53), (1 << 53) - 1),
            "share": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "is_vpn": st.none() | st.booleans(),
            "tags": st.none() | st.lists(_TEXTS, max_size=3),
        }
    ),
    min_size=1,
    max_size=12,
)
_OWN_KINDS = ("arrow", "stream", "polars", "polars lazy")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=needs(*{"polars"} & {*kind.split()})) for kind in _OWN_KINDS]
)
@settings(max_examples=scaled(3, 30), suppress_health_check=list(HealthCheck))
@given(_ROWS, st.lists(st.integers(0, 12), max_size=2))
def test_own_columns_of_tables(kind: str, rows: list[dict[str, Any]], cuts: list[int]) -> None:
    """JSON lines have values of the same types."""
    with TemporaryDirectory() as name, mock.patch.object(typed_rows, "BATCH_ROWS", 5):
        folder = Path(name)
        (folder / "a.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        table = TABLES[kind](pa.Table.from_pylist(rows, _SCHEMA), cuts)
        contents = []
        for number, source in enumerate(({"table": table}, {"path": str(folder / "a.jsonl")})):
            output, sources = folder / str(number), [{**source, "empty": "ok"}]
            geolookup.build(sources=sources, columns=OWN, output=output, max_rejects=10**9)
            contents.append(content(output))
            contents[-1].pop(MANIFEST)
        assert contents[0] == contents[1]


@needs("pandas", "polars")
@pytest.mark.long
def test_a_million_rows(tmp_path: Path) -> None:
    """In batches of the usual size: a Parquet file and tables in chunks of any size are alike."""
    count = 1_000_000
    rows = np.arange(count)
    table = pa.table(
        {
            "first": rows * 16 + 0x08000000,
            "last": rows * 16 + 0x0800000F,
            "isp": pc.take(pa.array([f"provider {at}" for at in range(1000)]), rows % 1000),
            "asn": rows % 70_000,
        }
    )
    papq.write_table(table, tmp_path / "a.parquet")
    sources = {
        "parquet": tmp_path / "a.parquet",
        "whole": table,
        "chunks": pa.concat_tables(table.slice(at, 777) for at in range(0, count, 777)),
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table).with_columns(pl.col("isp").cast(pl.Categorical)),
    }
    contents = []
    for name, source in sources.items():
        geolookup.build(sources=[source], output=tmp_path / name)
        contents.append(content(tmp_path / name))
        contents[-1].pop(MANIFEST)
    assert all(files == contents[0] for files in contents[1:])
