"""Rows of changes are what looking every address up in both datasets gives."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

import geolookup
from geolookup.errors import PrivateAddressError
from tests.comparison import oracle
from tests.conftest import build_at
from tests.internals.comparison import (
    ENDS,
    SIDES,
    change_table,
    changed_intervals,
    diff_table,
    source_column,
)
from tests.internals.contract import STORED, partition, value_in
from tests.internals.history import metadata_of, rows_between, rows_in_file, write_changes
from tests.internals.kernel import state_of
from tests.oracle import Address, OwnColumn, Source, SourceRow, carried, is_public
from tests.range_strategies import CELLS, OWN_CELLS, as_csv, edges, own_columns, recipe, sources
from tests.tiers import scaled

_PLACES = (
    ("8.8.8.0", "::ffff:8.8.8.0"),
    ("9.255.255.240", "2001:ffff:ffff:ffff:ffff:ffff:ffff:fff0"),
    ("8.8.8.0", "2002:808:808::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:fff0", "2a00::"),
)
#: Both ends of each part of special-purpose space, and of the quarters at which IPv6 rows end.
_BOUNDS = {
    (IPv4Address if family == 4 else IPv6Address)(end)
    for family in (4, 6)
    for first, last, _ in partition(family)
    for end in (first, last)
} | {IPv6Address(quarter * 2**126 + at) for quarter in (1, 2, 3) for at in (-1, 0)}
Recipe = tuple[list[OwnColumn], list[Source]]


@dataclass(frozen=True)
class ChangedRow:
    """A row of a table of changes: values by path, and deciding sources by layer."""

    family: int
    first: int
    last: int
    kind: str
    before: dict[str, Any]
    after: dict[str, Any]
    sources_before: dict[str, str | None]
    sources_after: dict[str, str | None]


def _changed_row(row: dict[str, Any], about: dict[str, Any]) -> ChangedRow:
    first, last = (_address(row[name]) for name in ENDS[row["family"]])
    fields, layers = about["fields"], about["layers"]
    values = ({path: row[f"{path.replace('.', '_')}_{s}"] for path in fields} for s in SIDES)
    sources = ({layer: row[source_column(layer, s)] for layer in layers} for s in SIDES)
    return ChangedRow(row["family"], first, last, row["kind"], *values, *sources)


def _address(value: int | bytes) -> int:
    return value if isinstance(value, int) else int.from_bytes(value)


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[Recipe, Recipe]:
    """Two recipes: the second one has some rows of the first and others."""
    windows = draw(st.sampled_from(_PLACES))
    old_columns, new_columns = draw(own_columns()), draw(own_columns())
    if draw(st.booleans()):
        new_columns = old_columns
    old = _sources(draw, windows, old_columns)
    new = _sources(draw, windows, new_columns)
    if new_columns is old_columns and draw(st.booleans()):
        dropped = draw(st.integers(0, 3))
        new = [*(replace(one, rows=one.rows[dropped:]) for one in old), *new[:1]]
    return (old_columns, old), (new_columns, new)


def _sources(draw: st.DrawFn, windows: tuple[str, ...], columns: Sequence[OwnColumn]) -> Any:
    own = {f"own.{column.name}": OWN_CELLS[column.type] for column in columns}
    return draw(st.lists(sources(windows, 12, {**CELLS, **own}), min_size=1, max_size=2))


def _source(*rows: tuple[str, str, str]) -> Source:
    """A source of countries, by first and last address of each row; neighbours differ in a city."""
    return Source(
        [
            SourceRow(
                ip_address(first),
                ip_address(last),
                {"country_code": code, "city_name": "AB"[at % 2]},
            )
            for at, (first, last, code) in enumerate(rows)
        ]
    )


#: Ranges around multiples of 2^64: whole ones, one address less and one more; and the whole space.
_WIDE = (
    ("2a00::", "2a00::ffff:ffff:ffff:ffff", "DE"),
    ("2a00:0:0:1::", "2a00:0:0:3:ffff:ffff:ffff:ffff", "US"),
    ("2a00:0:0:5::", "2a00:0:0:6:ffff:ffff:ffff:fffe", "DE"),
    ("2a00:0:0:8::", "2a00:0:0:a::", "DE"),
    ("2a00:0:0:c::1", "2a00:0:0:d::", "DE"),
    ("2b00::", "2b00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "US"),
    # The last addresses are multiples of 2^126: a window of two intervals ends at one of them.
    ("3fff::", "4000::", "DE"),
    ("7fff::", "7fff::ffff", "US"),
    ("7fff::1:0", "8000::", "US"),
)
_OWN = [OwnColumn("risk", "integer", "", False)]
_ALL = ("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "FR")


@settings(max_examples=scaled(1, 25), suppress_health_check=list(HealthCheck))
@example(((_OWN, [_source()]), (_OWN, [_source(*_WIDE)])), 2)
@example(((_OWN, [_source(*_WIDE)]), (_OWN, [_source(_ALL)])), 1 << 18)
@given(_pairs(), st.sampled_from((2, 1 << 18)))
def test_each_address_is_in_a_row_if_its_answers_differ(
    pair: tuple[Recipe, Recipe], window: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(changed_intervals, "WINDOW", window)
        patch.setattr(change_table, "BATCH", 3)
        old, new = (_built(Path(folder, name), side) for name, side in zip("on", pair, strict=True))
        table = diff_table(old, new, "all").read_all()
        rows = _check_rows(table)
        _check_rows(diff_table(old, new, "country").read_all())
        file = Path(folder) / "changes.parquet"
        assert write_changes(old, new, file) == len(rows)
        in_file = pq.read_table(file)
        assert in_file.schema == table.schema
        assert metadata_of(in_file.schema) == metadata_of(table.schema)
        assert sorted(in_file.to_pylist(), key=_ends) == table.to_pylist()
        with geolookup.open(old) as before, geolookup.open(new) as after:
            datasets = state_of(before).dataset, state_of(after).dataset
            ids = before.generation, after.generation
            for address in _probes(pair):
                _check(address, rows, Sides(before, after))
                where = address.version, int(address), int(address)
                read = rows_in_file(file, ids, *where)
                assert read == rows_between(*datasets, *where)
                assert [_values(row.layers) for row in read] == [
                    _differing(row) for row in rows if _holds(row, address)
                ]


def _built(folder: Path, side: Recipe) -> Path:
    folder.mkdir()
    columns, listed = side
    files: dict[str, str | bytes] = {f"{at}.csv": as_csv(item) for at, item in enumerate(listed)}
    return build_at(folder, files, recipe(listed, columns))[0]


def _probes(pair: tuple[Recipe, Recipe]) -> Iterator[Address]:
    yield from _BOUNDS.union(*(edges(listed) for _, listed in pair))


def _of(rows: list[ChangedRow], address: Address) -> ChangedRow | None:
    of = [row for row in rows if _holds(row, address)]
    assert len(of) <= 1, address
    return of[0] if of else None


def _holds(row: ChangedRow, address: Address) -> bool:
    return row.family == address.version and row.first <= int(address) <= row.last


def _values(layers: Any) -> dict[str, Any]:
    return {path: pair for layer in layers.values() for path, pair in layer.fields.items()}


def _differing(row: ChangedRow) -> dict[str, Any]:
    """Return the values that differ; 1 is another value than true, but not than 1.0."""
    pairs = {path: (value, row.after[path]) for path, value in row.before.items()}
    return {
        path: (old, new)
        for path, (old, new) in pairs.items()
        if old != new or isinstance(old, bool) != isinstance(new, bool)
    }


def _ends(row: dict[str, Any]) -> tuple[int, int]:
    return row["family"], _address(row[ENDS[row["family"]][0]])


def _check_rows(table: pa.Table) -> list[ChangedRow]:
    """Check order and columns of a table, and return its rows."""
    about = metadata_of(table.schema)
    rows = [_changed_row(row, about) for row in table.to_pylist()]
    ends = [(row.family, row.first, row.last) for row in rows]
    assert ends == sorted(ends)
    for row, cells in zip(rows, table.to_pylist(), strict=True):
        assert row.first <= row.last
        assert row.first >> 126 == row.last >> 126  # counts have 38 digits at most
        assert cells["addresses"] == row.last - row.first + 1
        assert row.kind != "unchanged"
    for one, other in pairwise(rows):
        assert one.family < other.family or one.last < other.first
        if (one.family, one.last + 1) == (other.family, other.first):
            is_quarter = other.family == 6 and not other.first % 2**126
            assert is_quarter or _without_ends(one) != _without_ends(other)
    return rows


def _without_ends(row: ChangedRow) -> ChangedRow:
    return replace(row, first=0, last=0)


class Sides:
    """The answers of both engines."""

    def __init__(self, old: geolookup.Engine, new: geolookup.Engine) -> None:
        self._engines = old, new
        self.own = {
            f"own.{name}": None for engine in self._engines for name in engine.own("8.8.8.8") or ()
        }

    def values(self, address: Address) -> list[dict[str, Any]]:
        """Return the values of both by path, without the local time."""
        return [self._values(engine, str(address)) for engine in self._engines]

    def _values(self, engine: geolookup.Engine, ip: str) -> dict[str, Any]:
        data = engine.lookup(ip)["data"]
        known = {f.path: None if data is None else value_in(data, f) for f in STORED}
        own = engine.own(ip) or {}
        return {**known, **self.own, **{f"own.{name}": value for name, value in own.items()}}

    def sources(self, address: Address) -> list[dict[str, str | None]]:
        """Return the deciding sources of both by layer."""
        return [self._sources(engine, str(address)) for engine in self._engines]

    def _sources(self, engine: geolookup.Engine, ip: str) -> dict[str, str | None]:
        try:
            layers = engine.explain(ip)["layers"]
        except PrivateAddressError:
            return {}
        return {layer: decided and decided["source"] for layer, decided in layers.items()}

    def kind(self, address: Address) -> str | None:
        """Return the kind of change; None in special-purpose space and if nothing is known."""
        seen = oracle.seen(*self._engines, str(address))
        return None if seen is None else oracle.kind(seen)


def _check(address: Address, rows: list[ChangedRow], sides: Sides) -> None:
    row = _of(rows, address)
    if carried(address) != address:
        assert row is None  # it has the answer of another address
        return
    before, after = sides.values(address)
    differs = any(_text(before[path]) != _text(after[path]) for path in before)
    assert (row is not None) == differs, address
    if row is None:
        return
    assert (dict(row.before), dict(row.after)) == (before, after)
    for stated, decided in zip(
        (row.sources_before, row.sources_after), sides.sources(address), strict=True
    ):
        assert dict(stated) == {layer: decided.get(layer) for layer in stated}, address
    kind = sides.kind(address) if is_public(address) else None
    assert row.kind == ("own column value" if kind in (None, "unchanged") else kind)


def _text(value: Any) -> str:
    """Return the JSON text of a value: 5 and 5.0 are equal, 5 and "5" are not."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return json.dumps(int(value) if is_whole else value)
