"""SQLite: a table of ranges for each family, and the tables of values that ranges refer to.

The first address is the key of a range and orders the table: one search finds the range of an
address. IPv4 addresses are integers. IPv6 addresses are blobs of 16 bytes in network order; SQLite
compares them byte by byte.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import TEXTS
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.export.formats import Counts, Values
from geolookup.export.ranges import SOURCE, FieldRanges, as_values, origin
from geolookup.prefixes.field_columns import FieldColumns
from geolookup.progress import Progress

_TYPES = {"double": "real", "uint32": "integer", "int64": "integer", "bool": "integer"}
#: The columns of both ends, and what follows the columns.
_RANGES = {
    4: ("first integer primary key, last integer not null", ""),
    # "without rowid": the tree of the key has the rows; otherwise the key is stored twice.
    6: ("first blob primary key, last blob not null", " without rowid"),
}
#: The file has no name before it is complete: no journal is needed.
_SETTINGS = "pragma journal_mode = off; pragma synchronous = off;"


def write(dataset: Dataset, target: Path, values: Values, progress: Progress) -> Counts:
    """Write a database; see ``formats.Write``."""
    ranges = FieldRanges(dataset, values, progress)
    counts, tables = dataset.row_counts(), ranges.columns.tables
    used = [np.zeros(counts[table], bool) for table in tables]
    with _write_errors(), closing(sqlite3.connect(target, isolation_level=None)) as database:
        database.executescript(f"{_SETTINGS} begin")
        rows = "".join(f", {table} integer not null" for table in tables)
        for family, (ends, after) in _RANGES.items():
            database.execute(f"create table ipv{family} ({ends}{rows}){after}")
        count = sum(_add_ranges(database, ranges, family, used) for family in ranges.families)
        for table, marks in zip(tables, used, strict=True):
            _add_values(database, table, ranges.columns, marks)
        add_origin_tables(database, dataset)
        database.execute("commit")
    return {"ranges": count}


@contextmanager
def _write_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:  # such as a full disk
        raise OSError(str(error)) from error


def _add_ranges(
    database: sqlite3.Connection, ranges: FieldRanges, family: int, used: list[Bools]
) -> int:
    count = 0
    marks_of_row = ", ".join("?" * (len(used) + 2))  # both ends, and a row of each table
    insert = f"insert into ipv{family} values ({marks_of_row})"  # noqa: S608
    for spans in ranges.spans(family):
        for marks, rows in zip(used, spans.codes, strict=True):
            marks[rows] = True
        ends = (column.to_pylist() for column in as_values(spans).columns)
        codes = (column.tolist() for column in spans.codes)
        database.executemany(insert, zip(*ends, *codes, strict=True))
        count += len(spans)
    return count


def _add_values(
    database: sqlite3.Connection, table: str, columns: FieldColumns, used: Bools
) -> None:
    """Write a table of values: the rows that ranges refer to, by number."""
    rows = np.flatnonzero(used).astype(np.uint32)
    stored = columns.of_table(table)
    clauses = [f"{name} {_TYPES.get(str(column.type), 'text')}" for name, column in stored.items()]
    database.execute(f"create table {table} ({', '.join(['id integer primary key', *clauses])})")
    marks = ", ".join(["?"] * (len(clauses) + 1))
    cells = zip(
        rows.tolist(), *(_cells(column.take(rows)) for column in stored.values()), strict=True
    )
    database.executemany(f"insert into {table} values ({marks})", cells)  # noqa: S608 - a constant


def _cells(column: pa.Array) -> Iterable[Any]:
    """Return the values of a column, lists as JSON texts."""
    values: list[Any] = column.to_pylist()
    if str(column.type) == TEXTS:
        return [
            texts if texts is None else json.dumps(texts, ensure_ascii=False) for texts in values
        ]
    return values


def add_origin_tables(database: Any, dataset: Dataset) -> None:
    """Write the tables ``dataset`` and ``source`` through a connection to SQLite or DuckDB."""
    about = origin(dataset)
    database.execute("create table dataset (name text, generation text)")
    database.execute("insert into dataset values (?, ?)", (about["name"], about["generation"]))
    database.execute(f"create table source ({', '.join(f'{name} text' for name in SOURCE)})")
    marks = ", ".join("?" for _ in SOURCE)
    for source in about["sources"]:
        database.execute(f"insert into source values ({marks})", list(source.values()))  # noqa: S608
