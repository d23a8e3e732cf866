"""The rows of exports, read by each format's own reader, and the expected rows."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import geolookup
from tests.internals.contract import CARRIES_IPV4, MAX, Field, partition, value_in
from tests.internals.export import Schema, fields_of, schema_of
from tests.internals.kernel import state_of

#: Family, first and last address, and the values of the fields.
Row = tuple[int, int, int, tuple[Any, ...]]
#: The rows of an output with these fields.
Read = Callable[[Path, tuple[Field, ...]], list[Row]]


def expected(engine: geolookup.Engine, paths: Sequence[str] | None = None) -> list[Row]:
    """Return the answers of the engine in all space, adjacent ranges of equal values as one.

    Addresses that carry IPv4 addresses have no rows of their own.
    """
    fields = fields_of(paths, state_of(engine).dataset.schema)
    ranges = [*parts(engine)]
    firsts = [address_text(family, first) for family, first, _ in ranges]
    values = engine.get_many(firsts, [field.path for field in fields])
    return joined(
        (*ends, known)
        for ends, known in zip(ranges, values, strict=True)
        if any(value is not None for value in known)
    )


def parts(engine: geolookup.Engine) -> Iterator[tuple[int, int, int]]:
    """Yield ranges with one answer, cut at the ends of special-purpose space."""
    dataset = state_of(engine).dataset
    for family in (4, 6):
        spaces, starts = partition(family), dataset.starts(family)
        bounds = sorted({*(starts[at] for at in range(len(starts))), *(part[0] for part in spaces)})
        kinds = {first: kind for first, _, kind in spaces}
        kind = spaces[0][2]
        for first, after in pairwise([*bounds, MAX[family] + 1]):
            kind = kinds.get(first, kind)
            if kind != CARRIES_IPV4:
                yield family, first, after - 1


def address_text(family: int, value: int) -> str:
    return str(ip_address(value.to_bytes(4 if family == 4 else 16, "big")))


def _ends(row: dict[str, Any]) -> tuple[int, int, int]:
    if "network" in row:
        network = ip_network(row["network"])
        return network.version, int(network[0]), int(network[-1])
    first, last = ip_address(row["first"]), ip_address(row["last"])
    return first.version, int(first), int(last)


def joined(rows: Iterator[Row]) -> list[Row]:
    """Join adjacent ranges of equal values, as the prefixes of a range are."""
    actual: list[Row] = []
    for family, first, last, values in rows:
        if actual and actual[-1][0] == family and actual[-1][2:] == (first - 1, values):
            first = actual.pop()[1]
        actual.append((family, first, last, values))
    return actual


def read_csv(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    with output.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, strict=True))
    return joined(
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
    return joined((*_ends(row), tuple(row[field.name] for field in fields)) for row in rows)


def read_parquet(output: Path, fields: tuple[Field, ...]) -> list[Row]:
    from pyarrow import parquet

    actual = []
    for family in (4, 6):
        for path in sorted(output.glob(f"ipv{family}/*.parquet")):
            for row in parquet.read_table(path).to_pylist():
                ends = (row["first"], row["last"])
                numbers = ends if family == 4 else [int.from_bytes(end, "big") for end in ends]
                actual.append((family, *numbers, tuple(row[field.name] for field in fields)))
    return actual


READERS: dict[str, Read] = {
    "csv": read_csv,
    "jsonl": read_jsonl,
    "parquet": read_parquet,
}


SCHEMAS = ("city", "country", "asn", "isp", "enterprise", "flat")
Address = IPv4Address | IPv6Address
#: Carries IPv4 only in MaxMind's files: the address of its server.
_TEREDO = 0x2001_0000
_NONE: Mapping[str, str] = {}


class ExpectedRecords:
    """The records of a schema by the answers of an engine; ``keys`` are those of own columns."""

    def __init__(
        self, engine: geolookup.Engine, schema: str, *paths: str, keys: Mapping[str, str] = _NONE
    ) -> None:
        self.engine, self.keys = engine, keys
        self.schema: Schema = schema_of(schema, engine.metadata.fields, paths)

    def __call__(self, address: Address) -> Any:
        """Return the record of an address; None for an unknown one, and a private one if all is."""
        if address.version == 6 and int(address) >> 96 == _TEREDO:
            address = IPv4Address(int(address) >> 64 & 0xFFFF_FFFF)
        elif address.version == 6 and int(address) >> 32 == 0:
            address = IPv4Address(int(address))
        answer = self.engine.lookup(address)
        known = (self._record(answer["data"]) if answer["success"] else None) or {}
        own = (self.engine.own(address) or {}) if self.keys else {}
        for name, key in self.keys.items():
            if own.get(name) is not None:
                known[key] = own[name]
        return known or None

    def _record(self, data: Any) -> Any:
        record: dict[str, Any] = {}
        for path, field in self.schema.paths.items():
            value = value_in(data, field)
            if isinstance(value, str):
                value = self.schema.words.get(field.path, {}).get(value, value)
            if value is not None and not (self.schema.only_true and value is False):
                *groups, last = path.split(".")
                at = record
                for group in groups:
                    at = at.setdefault(group, {})
                at[last] = value
        return _with_lists(record) or None


def _with_lists(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    members = {name: _with_lists(item) for name, item in record.items()}
    return [members["0"]] if members.keys() == {"0"} else members


def addresses(engine: geolookup.Engine, most: int) -> Iterator[Address]:
    """Yield the ends of ranges and their neighbours, evenly spaced; also as addresses of IPv6."""
    listed = [*parts(engine)]
    for family, first, last in listed[:: max(1, len(listed) // most)]:
        for value in {first - 1, first, last, last + 1}:
            if 0 <= value <= MAX[family]:
                yield IPv4Address(value) if family == 4 else IPv6Address(value)
                if family == 4:
                    yield from carrying(value)


def carrying(value: int) -> Iterator[Address]:
    """Yield IPv6 addresses that carry an IPv4 address: mapped, NAT64, 6to4, Teredo."""
    for base, shift in (("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80), ("2001::", 64)):
        yield IPv6Address(int(ip_address(base)) | value << shift)
