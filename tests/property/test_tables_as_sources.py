"""Tables in memory make the dataset that CSV files of the same rows make.

Strategy: random sources, written as CSV and as tables of Arrow (in chunks), pandas and Polars, with
plain and with encoded texts. All tables of the datasets must be equal.
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

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builder.sources.readings import LENIENT
from tests.internals.builder import (
    Options,
    dataset_content,
    recipe_of_call,
    sources_read,
    typed_columns,
)
from tests.internals.progress import Progress
from tests.oracle import Source
from tests.range_strategies import as_csv, recipes
from tests.skips import needs, optional
from tests.tiers import scaled

pl = optional("polars")
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


def compiled(
    sources: list[dict[str, Any]], columns: dict[str, Any] | None = None
) -> dict[str, pa.Table]:
    """The tables of the dataset of some sources, by file name."""
    listed = [{"empty": "ok", **source} for source in sources]
    plan = recipe_of_call(None, listed, columns, name=None, fields=None)
    options, progress = Options(**LENIENT), Progress(silent=True)
    with (
        TemporaryDirectory() as folder,
        sources_read(plan, options, progress, Path(folder, "dataset")) as overlaid,
    ):
        return dataset_content(overlaid)[1]


@needs("pandas", "polars")
@settings(max_examples=scaled(3, 10), suppress_health_check=list(HealthCheck))
@given(recipes, st.lists(st.integers(0, 30), max_size=3))
def test_tables_make_the_dataset_of_their_csv(listed: list[Source], cuts: list[int]) -> None:
    """Tables are read a few rows at a time."""
    kept = [{} if source.fields is None else {"fields": sorted(source.fields)} for source in listed]
    with TemporaryDirectory() as folder, mock.patch.object(typed_columns, "BATCH_ROWS", 5):
        paths = [Path(folder, f"{number}.csv") for number in range(len(listed))]
        for path, source in zip(paths, listed, strict=True):
            path.write_text(as_csv(source), encoding="utf-8", newline="")
        of_files = compiled(
            [{"path": str(path), **keys} for path, keys in zip(paths, kept, strict=True)]
        )
        for kind, table in TABLES.items():
            of_tables = compiled(
                [
                    {"table": table(table_of(source), cuts), **keys}
                    for source, keys in zip(listed, kept, strict=True)
                ]
            )
            assert of_tables == of_files, kind


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


@needs("polars")
@settings(max_examples=scaled(3, 10), suppress_health_check=list(HealthCheck))
@given(_ROWS, st.lists(st.integers(0, 12), max_size=2))
def test_own_columns_of_tables(rows: list[dict[str, Any]], cuts: list[int]) -> None:
    """JSON lines have values of the same types."""
    with TemporaryDirectory() as name, mock.patch.object(typed_columns, "BATCH_ROWS", 5):
        path = Path(name, "a.jsonl")
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        of_file = compiled([{"path": str(path)}], OWN)
        for kind in ("arrow", "stream", "polars", "polars lazy"):
            table = TABLES[kind](pa.Table.from_pylist(rows, _SCHEMA), cuts)
            assert compiled([{"table": table}], OWN) == of_file, kind
