"""The resolution rule written slowly and plainly: what the compiler and engine must answer.

Strategy: one number line. An IPv4 address stands where IPv6 puts its mapped form, so a range
keeps the size that its source stated and rows of both families compare without folding.
Nothing here is taken from the compiler but the reference tables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from socket import AF_INET, AF_INET6, inet_pton
from typing import Any
from zoneinfo import available_timezones

from tests.internals.builder import load_continents, load_countries
from tests.internals.contract import IPV4_REGISTRY, IPV6_REGISTRY, UNREGISTERED
from tests.prefixes.brute_force import meets

Address = IPv4Address | IPv6Address

LOCATION_FIELDS = [
    "region_code",
    "region_name",
    "city_name",
    "postal_code",
    "latitude",
    "longitude",
    "weather_code",
]
NETWORK = ["asn", "asn_organization", "isp", "organization", "connection_type", "user_type"]
LAYERS: dict[str, list[str]] = {
    "location": ["continent_code", "country_code", *LOCATION_FIELDS, "time_zone"],
    "asn": ["asn", "asn_organization"],
    **{name: [name] for name in NETWORK[2:]},
}
FIELDS = [name for names in LAYERS.values() for name in names]
WORDS = {
    "connection_type": ["Corporate", "Residential", "Mobile", "Satellite", "Dialup"],
    "user_type": ["business", "cafe", "cellular", "college", "consumer_privacy_network", "hosting"],
}
COUNTRIES = load_countries()
CONTINENTS = load_continents()
ZONES = available_timezones() - {"localtime"}
SPECIAL = [
    (ip_network(row.block), row.reachable)
    for row in (*IPV4_REGISTRY, *IPV6_REGISTRY, *UNREGISTERED)
    if not row.terminated
]


@dataclass(frozen=True)
class SourceRow:
    """A range, both ends included, and the cells that are not empty."""

    first: Address
    last: Address
    cells: dict[str, str]


@dataclass(frozen=True)
class Restriction:
    """What a source keeps: conditions as a mapping, families, and networks (None: any)."""

    only: dict[str, Any]
    families: tuple[int, ...] = (4, 6)
    within: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Source:
    """Rows in file order; ``fields`` None keeps every field, ``restriction`` None all rows."""

    rows: list[SourceRow]
    fields: frozenset[str] | None = None
    restriction: Restriction | None = None


@dataclass(frozen=True)
class OwnColumn:
    """A column of ``[columns]``; its cells have the name ``own.NAME``."""

    name: str
    type: str
    group: str = ""
    private: bool = False

    @property
    def layer(self) -> str:
        return f"own.{self.group or self.name}"


#: The fields that mean nothing beside a bad value of another.
DEPENDENTS = {
    "country_code": ("region_code", "region_name", "city_name", "postal_code"),
    "latitude": ("longitude",),
    "longitude": ("latitude",),
    "asn": ("asn_organization",),
}


def carried(address: Address) -> Address:
    """The IPv4 address that decides for an IPv6 address that carries one, else itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in ip_network("64:ff9b::/96"):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


@cache
def is_public(address: Address) -> bool:
    """The longest special-purpose block around the address decides; without one it is public."""
    around = [
        (block.prefixlen, reachable)
        for block, reachable in SPECIAL
        if block.version == address.version and address in block
    ]
    return max(around)[1] if around else True


def as_number(address: Address) -> int:
    """Where an address stands on the one line of both families."""
    mapped = int(address) | 0xFFFF << 32
    return mapped if isinstance(address, IPv4Address) else int(address)


def deciding(rows: list[SourceRow], address: Address) -> SourceRow | None:
    """The smallest range around the address; then the later start; then the later row."""
    best, best_key = None, (0, 0, 0)
    for number, row in enumerate(rows):
        first, last = as_number(row.first), as_number(row.last)
        key = (first - last, first, number)  # the greater, the more specific
        if first <= as_number(address) <= last and (best is None or key > best_key):
            best, best_key = row, key
    return best


def row_of(source: Source, address: Address) -> SourceRow | None:
    """The deciding row of a source; None where its restriction leaves the address out."""
    kept = source.restriction
    if kept is not None:
        networks = [ip_network(text) for text in kept.within or ("0.0.0.0/0", "::/0")]
        answer = expected([Source(source.rows, source.fields)], str(address))
        if address.version not in kept.families:
            return None
        if not any(address in net for net in networks if net.version == address.version):
            return None
        if kept.only and not (
            answer and meets({**answer, "time": {"zone": answer["zone"]}}, kept.only)
        ):
            return None
    return deciding(source.rows, address)


def known(row: SourceRow, layer: str, fields: frozenset[str] | None) -> dict[str, Any]:
    """What a row knows of a layer, without bad values and what means nothing beside them."""
    values: dict[str, Any] = {}
    bad = set[str]()
    for name in LAYERS[layer]:
        cell = row.cells.get(name, "")
        if cell and (fields is None or name in fields):
            try:
                values[name] = value(name, cell)
            except ValueError:
                bad |= {name, *DEPENDENTS.get(name, ())}
    pair = {"latitude", "longitude"}
    if fields is None or pair <= fields:
        bad |= pair - {name for name in pair if values.get(name) is not None and name not in bad}
        bad |= pair if pair & bad else set()
    return {name: item for name, item in values.items() if item is not None and name not in bad}


def value(name: str, cell: str) -> Any:
    """The value of a cell; None for a way to write unknown; ValueError where it is bad."""
    if name == "asn":
        number = int(re.sub("^AS", "", cell))
        return _good(number or None, 0 <= number < 1 << 32)
    if name in ("latitude", "longitude"):
        return _good(float(cell), abs(float(cell)) <= {"latitude": 90, "longitude": 180}[name])
    if name == "region_code":
        return _good(cell, re.fullmatch("[A-Z0-9]{1,3}", cell) is not None)
    legal: dict[str, Container[str]] = {
        "country_code": COUNTRIES,
        "continent_code": CONTINENTS,
        "time_zone": ZONES,
        **WORDS,
    }
    return _good(cell, name not in legal or cell in legal[name])


def _good(member: Any, condition: bool) -> Any:
    if not condition:
        raise ValueError(member)
    return member


def decided(sources: list[Source], address: Address) -> dict[str, int]:
    """The position, from 1, of the source that gives each layer; 0 where none knows it."""
    rows = [(source, row_of(source, address)) for source in sources]
    return {
        layer: next(
            (
                number
                for number, (source, row) in enumerate(rows, 1)
                if row and known(row, layer, source.fields)
            ),
            0,
        )
        for layer in LAYERS
    }


def resolve(sources: list[Source], address: Address) -> dict[str, Any]:
    """The fields of every layer, each layer from the first source that knows it."""
    rows = [(source, row_of(source, address)) for source in sources]
    fields: dict[str, Any] = dict.fromkeys(FIELDS)
    for layer in LAYERS:
        answers = [known(row, layer, source.fields) for source, row in rows if row]
        fields.update(next(filter(None, answers), {}))
    if fields["asn"] is not None and fields["asn_organization"] is None:
        below = sources[decided(sources, address)["asn"] :]
        fields["asn_organization"] = _name_below(below, fields["asn"])
    return fields


def _name_below(sources: list[Source], number: int) -> str | None:
    """The name of an autonomous system in the first row of the first source that has one."""
    for source in sources:
        for row in source.rows:
            values = known(row, "asn", source.fields)
            if values.get("asn") == number and "asn_organization" in values:
                return str(values["asn_organization"])
    return None


def expected(sources: list[Source], text: str) -> dict[str, Any] | None:
    """``location``, ``zone``, ``currency`` and ``network`` of an address; None: it is private."""
    address = carried(ip_address(text))
    if not is_public(address):
        return None
    fields = resolve(sources, address)
    country = COUNTRIES.get(fields["country_code"])
    continent = fields["continent_code"] or (country and country.continent_code)
    network = {name: fields[name] for name in NETWORK}
    if network["asn"] is None:
        del network["asn"]
    return {
        "location": {
            "continent_code": continent,
            "continent_name": CONTINENTS.get(continent or ""),
            **_country(country),
            **{name: fields[name] for name in LOCATION_FIELDS},
        },
        "zone": fields["time_zone"] or (country and country.time_zone),
        "currency": {
            name: getattr(country, f"currency_{name}", None) for name in ("code", "name", "symbol")
        },
        "network": network,
    }


def own_decided(
    sources: list[Source], columns: Sequence[OwnColumn], text: str
) -> dict[str, tuple[int, dict[str, Any]]]:
    """By layer, the position of the source that gives it, from 1, and its values; 0 and none."""
    address = carried(ip_address(text))
    rows = [(source, row_of(source, address)) for source in sources]
    decided_layers = {}
    for layer in dict.fromkeys(column.layer for column in columns):
        of_layer = [column for column in columns if column.layer == layer]
        reachable = is_public(address) or of_layer[0].private
        answers = (
            (number, own_known(row, of_layer, source.fields))
            for number, (source, row) in enumerate(rows, 1)
            if row and reachable
        )
        decided_layers[layer] = next((item for item in answers if item[1]), (0, {}))
    return decided_layers


def own_known(
    row: SourceRow, columns: Sequence[OwnColumn], fields: frozenset[str] | None
) -> dict[str, Any]:
    """What a row knows of the columns of one layer, without bad values."""
    values = {}
    for column in columns:
        cell = row.cells.get(f"own.{column.name}", "").strip()
        if cell and (fields is None or f"own.{column.name}" in fields):
            with suppress(ValueError):
                values[column.name] = OWN_VALUES[column.type](cell)
    return {name: item for name, item in values.items() if item is not None}


def _own_integer(cell: str) -> int:
    number: int = _good(int(cell), -(2**63) <= int(cell) < 2**63)
    return number


def _own_real(cell: str) -> float:
    number: float = _good(float(cell), math.isfinite(float(cell)))
    return number


_BOOLEANS = ("true", "yes", "1", "false", "no", "0")


def _own_boolean(cell: str) -> bool:
    return bool(_good(cell.lower() in ("true", "yes", "1"), cell.lower() in _BOOLEANS))


def _own_texts(cell: str) -> list[str] | None:
    items = json.loads(cell) if cell.startswith("[") else cell.split(";")
    if any(isinstance(item, list | dict) for item in items):
        raise ValueError(cell)
    texts = [
        item if isinstance(item, str) else json.dumps(item) for item in items if item is not None
    ]
    "".join(texts).encode()  # a lone surrogate is no text
    return [text.strip() for text in texts if text.strip()] or None


OWN_VALUES: dict[str, Callable[[str], Any]] = {
    "text": str,
    "integer": _own_integer,
    "real": _own_real,
    "boolean": _own_boolean,
    "texts": _own_texts,
}


def _country(country: Any) -> dict[str, Any]:
    names = "code code_iso3 name capital tld calling_code flag_emoji languages area_km2 population"
    members = [f"country_{name}" for name in f"{names} neighbors is_eu".split()]
    values = {name: getattr(country, name, None) for name in members}
    # Tuples are the table's, lists are JSON's.
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def value_of(text: str) -> tuple[int, int]:
    """Read an address: family and value. `ipaddress` takes ten times as long for a million."""
    family, kind = (6, AF_INET6) if ":" in text else (4, AF_INET)
    return family, int.from_bytes(inet_pton(kind, text))
