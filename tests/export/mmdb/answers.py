"""What a record of an MMDB file must be, from an answer of the engine, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import geolookup
from geolookup.contract.fields import value_in
from geolookup.export.mmdb.schemas import Schema, schema_of

SCHEMAS = ("city", "country", "asn", "isp", "enterprise", "flat")
Address = IPv4Address | IPv6Address
#: Carries IPv4 in MaxMind's files alone: the address of its server.
_TEREDO = 0x2001_0000


class Expected:
    """The records of a schema by the answers of an engine."""

    def __init__(self, engine: geolookup.Engine, schema: str, *paths: str) -> None:
        self.engine = engine
        self.schema: Schema = schema_of(schema, engine.metadata.fields, paths)

    def __call__(self, address: Address) -> Any:
        """Return the record of an address; None for a private or an unknown one."""
        if address.version == 6 and int(address) >> 96 == _TEREDO:
            address = IPv4Address(int(address) >> 64 & 0xFFFF_FFFF)
        answer = self.engine.lookup(address)
        return self._record(answer["data"]) if answer["success"] else None

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
    members = {name: _with_lists(each) for name, each in record.items()}
    return [members["0"]] if members.keys() == {"0"} else members


def addresses(engine: geolookup.Engine, most: int) -> Iterator[Address]:
    """Yield the ends of intervals, evenly spaced, also as IPv6 addresses that carry them."""
    dataset = engine._open_state().dataset
    for family, kind in ((4, IPv4Address), (6, IPv6Address)):
        starts = dataset.starts(family)
        for at in range(0, len(starts), max(1, len(starts) // most)):
            for value in (starts[at], starts.last(at)):
                yield kind(value)
                if family == 4:
                    yield from carrying(value)


def carrying(value: int) -> Iterator[Address]:
    """Yield IPv6 addresses that carry an IPv4 address: mapped, NAT64, 6to4, Teredo."""
    for base, shift in (("::ffff:0:0", 0), ("64:ff9b::", 0), ("2002::", 80), ("2001::", 64)):
        yield IPv6Address(int(ip_address(base)) | value << shift)
