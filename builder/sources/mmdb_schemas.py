"""What the keys of MMDB records mean, by vendor.

Strategy: schemas are tables of paths, the most telling first; a file is of the
first schema whose marks its records have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

Record: TypeAlias = Any
Paths: TypeAlias = Mapping[str, Sequence[str]]
_ALPHA2 = re.compile(r"[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class Schema:
    """A vendor's way of writing records.

    ``marks`` are sets of paths, one of which the records must have whole;
    ``fields`` lists for each field the paths to look at, the best first.
    """

    name: str
    marks: tuple[frozenset[str], ...]
    fields: Paths


def _marks(*sets: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each.split()) for each in sets)


SCHEMAS = (
    Schema(
        "MaxMind, DB-IP",
        _marks(
            "country.iso_code",
            "registered_country.iso_code",
            "continent.code",
            "city.names.en",
            "location.latitude",
            "traits.autonomous_system_number",
        ),
        {
            "continent_code": ("continent.code",),
            # Where the place is unknown the registration stands in, as in the vendors' CSV.
            "country_code": ("country.iso_code", "registered_country.iso_code"),
            "region_code": ("subdivisions.0.iso_code",),
            "region_name": ("subdivisions.0.names.en",),
            "city_name": ("city.names.en",),
            "postal_code": ("postal.code",),
            "latitude": ("location.latitude",),
            "longitude": ("location.longitude",),
            "weather_code": ("location.weather_code",),
            "time_zone": ("location.time_zone",),
            "asn": ("traits.autonomous_system_number",),
            "asn_organization": ("traits.autonomous_system_organization",),
            "isp": ("traits.isp",),
            "organization": ("traits.organization",),
            "connection_type": ("traits.connection_type",),
            "user_type": ("traits.user_type",),
        },
    ),
    # In tables of ASes the country is where the AS is registered, not where the address is.
    Schema(
        "AS table of IPinfo or iplocate",
        _marks("asn name domain", "asn name org"),
        {"asn": ("asn",), "asn_organization": ("org", "name"), "user_type": ("type",)},
    ),
    Schema(
        "flat",
        _marks(
            "country_code",
            "country",
            "city",
            "asn",
            "autonomous_system_number",
            "isp",
            "connection_type",
            "user_type",
        ),
        {
            "continent_code": ("continent_code", "continent"),
            "country_code": ("country_code", "country"),
            "region_code": ("region_code",),
            "region_name": ("region_name", "region", "state1"),
            "city_name": ("city",),
            "postal_code": ("postal_code", "postal", "postcode"),
            "latitude": ("latitude", "lat"),
            "longitude": ("longitude", "lng"),
            "time_zone": ("timezone", "time_zone"),
            "asn": ("asn", "autonomous_system_number"),
            "asn_organization": ("as_name", "autonomous_system_organization"),
            "isp": ("isp",),
            "organization": ("organization",),
            "connection_type": ("connection_type",),
            "user_type": ("user_type", "as_type"),
        },
    ),
)
#: Keys that hold a code in some editions and a name in others.
_CODES = ("country", "continent")


def recognised(seen: set[str]) -> Paths | None:
    """Return the fields of the schema that has these paths; None for a schema not known."""
    return next((each.fields for each in SCHEMAS if any(mark <= seen for mark in each.marks)), None)


def paths_of(records: Sequence[Record]) -> set[str]:
    """Return the paths at which any of the records has a value that could be a cell."""
    return {path for record in records for path in _paths(record, "")}


def _paths(value: Record, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _paths(each, f"{path}.{at}")
    elif _text(value) is not None:
        yield path


def column(records: Sequence[Record], paths: Sequence[str]) -> pa.Array:
    """Return one text a record: what the first of ``paths`` that leads anywhere says."""
    finders = [_finder(path) for path in paths]
    texts = [next((text for find in finders if (text := find(each))), None) for each in records]
    return pa.array(texts, pa.string())


def _finder(path: str) -> Callable[[Record], str | None]:
    steps = [int(step) if step.isdigit() else step for step in path.split(".")]

    def find(value: Record) -> str | None:
        for step in steps:
            if isinstance(value, dict):
                value = value.get(step if isinstance(step, str) else str(step))
            elif isinstance(value, list) and isinstance(step, int):
                value = value[step] if step < len(value) else None
            else:
                return None
        text = _text(value)
        return None if path in _CODES and text and not _ALPHA2.fullmatch(text) else text

    return find


def _text(value: Record) -> str | None:
    """Return a text or number as a cell; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)
