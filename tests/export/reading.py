"""What exports hold, read by each format's own reader, and what they should hold."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import geolookup
from geolookup.contract.fields import Field
from geolookup.export.columns import fields_of

#: Family, first and last address, and the values of the fields.
Row = tuple[int, int, int, tuple[Any, ...]]
#: The rows of an output with these fields.
Read = Callable[[Path, tuple[Field, ...]], list[Row]]


def expected(engine: geolookup.Engine, paths: tuple[str, ...] | None = None) -> list[Row]:
    """Return what the engine answers, with adjacent networks of equal values as one."""
    fields = fields_of(paths)
    found: list[Row] = []
    for network, record in engine.networks():
        values = tuple(_value(engine, str(network[0]), record, field) for field in fields)
        if not any(each is not None for each in values):
            continue
        found.append((network.version, int(network[0]), int(network[-1]), values))
    return _joined(iter(found))


def _value(engine: geolookup.Engine, ip: str, record: dict[str, Any], field: Field) -> Any:
    if field.path == "time.zone":  # a record has no time
        return engine.get(ip, "time.zone")
    return record[field.group].get(field.member)


def _ends(row: dict[str, Any]) -> tuple[int, int, int]:
    if "network" in row:
        network = ip_network(row["network"])
        return network.version, int(network[0]), int(network[-1])
    first, last = ip_address(row["first"]), ip_address(row["last"])
    return first.version, int(first), int(last)


def _joined(rows: Iterator[Row]) -> list[Row]:
    """Join adjacent ranges of equal values, as the prefixes of a range are."""
    found: list[Row] = []
    for family, first, last, values in rows:
        if found and found[-1][0] == family and found[-1][2:] == (first - 1, values):
            first = found.pop()[1]
        found.append((family, first, last, values))
    return found


def read_csv(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    with output.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    return _joined(
        (*_ends(row), tuple(_typed(row[field.name], field) for field in fields)) for row in rows
    )


def _typed(cell: str, field: Field) -> Any:
    """Return the value of a cell; an unknown one is empty."""
    if cell == "":
        return None
    if field.type in ("double", "uint32", "int64"):
        return float(cell) if field.type == "double" else int(cell)
    return json.loads(cell) if field.type in ("bool", "list<item: string>") else cell


def read_jsonl(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    rows = [json.loads(line) for line in output.read_bytes().splitlines()]
    return _joined((*_ends(row), tuple(row[field.name] for field in fields)) for row in rows)


def read_parquet(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    from pyarrow import parquet

    found = []
    for family in (4, 6):
        for path in sorted(output.glob(f"ipv{family}/*.parquet")):
            for row in parquet.read_table(path).to_pylist():
                ends = (row["first"], row["last"])
                numbers = ends if family == 4 else [int.from_bytes(each, "big") for each in ends]
                found.append((family, *numbers, tuple(row[field.name] for field in fields)))
    return found


_SQLITE = """
select first, last, location.*, network.* from ipv{family} as range
join location on location.id = range.location join network on network.id = range.network
order by first
"""


def read_sqlite(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    found = []
    with closing(sqlite3.connect(output)) as database:
        database.row_factory = sqlite3.Row
        for family in (4, 6):
            for row in database.execute(_SQLITE.format(family=family)):
                ends = (row["first"], row["last"])
                numbers = ends if family == 4 else [int.from_bytes(each, "big") for each in ends]
                values = tuple(_of_sqlite(row[field.name], field) for field in fields)
                found.append((family, *numbers, values))
    return found


def _of_sqlite(value: Any, field: Field) -> Any:
    if value is not None and field.type == "list<item: string>":
        return json.loads(value)
    return bool(value) if value is not None and field.type == "bool" else value


def read_duckdb(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    import duckdb

    names = ", ".join(["first", "last", *(field.name for field in fields)])
    with closing(duckdb.connect(output, read_only=True)) as database:
        return [
            (family, row[0], row[1], row[2:])
            for family in (4, 6)
            for row in database.execute(f"from ipv{family} select {names}").fetchall()
        ]


READERS: dict[str, Read] = {
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
    "sqlite": read_sqlite,
    "duckdb": read_duckdb,
}
