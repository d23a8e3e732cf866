"""A source in any format, written out as generic CSV: both must compile to the same tables.

Strategy: the reader's batches are written row by row, a table a file, before anything is
cleaned; rows whose range was rejected are left out.
"""

from __future__ import annotations

import csv
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pyarrow.ipc
from geolookup_builder import recipe as recipes
from geolookup_builder.sources import FORMATS
from geolookup_builder.sources.reading.reader import Batch, SourceTable

from geolookup.dataset.intervals import Addresses
from tests.builder.building import recipe
from tests.conftest import build_at


def check_round_trip(folder: Path, files: dict[str, str | bytes], text: str) -> None:
    """Compile files by a recipe, then what their readers deliver, and compare the datasets."""
    (folder / "stated").mkdir()
    (folder / "generic").mkdir()
    stated, _ = build_at(folder / "stated", files, text)
    plan = recipes.load(
        folder / "stated" / "recipe.toml", {name: each.options for name, each in FORMATS.items()}
    )
    sources: list[str] = []
    for spec in plan.sources:
        for table in FORMATS[spec.format].read(spec):
            name = f"{len(sources)}.csv"
            _write(table, folder / "generic" / name)
            sources.append(f'path = "{name}"\nprovides = {sorted(spec.provides)}')
    generic, _ = build_at(folder / "generic", {}, recipe(*sources))
    for name in ("ipv4.arrow", "ipv6.arrow", "location.arrow", "network.arrow"):
        assert _table(stated / name).equals(_table(generic / name)), name
    assert _table(stated / "ipv4.arrow").num_rows + _table(stated / "ipv6.arrow").num_rows > 2


def _table(path: Path) -> pyarrow.Table:
    with pyarrow.ipc.open_file(path) as reader:
        return reader.read_all()


def _write(table: SourceTable, path: Path) -> None:
    batches = list(table.batches)
    fields = sorted({name for batch in batches for name in batch.fields})
    with path.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(("first", "last", *fields))
        for batch in batches:
            rows.writerows(_rows(batch, fields))


def _rows(batch: Batch, fields: list[str]) -> list[list[str]]:
    columns: list[list[str | None]] = [
        batch.fields[name].to_pylist() if name in batch.fields else [None] * len(batch)
        for name in fields
    ]
    families = batch.ranges.family.tolist()
    return [
        [
            _address(batch.ranges.first, row, family),
            _address(batch.ranges.last, row, family),
            *(column[row] or "" for column in columns),
        ]
        for row, family in enumerate(families)
        if family
    ]


def _address(ends: Addresses, row: int, family: int) -> str:
    number = ends.item(row)
    return str(IPv4Address(number) if family == 4 else IPv6Address(number))
