"""What the keys of MMDB records mean, by vendor.

A schema maps fields to paths in a record, such as ``city.names.en``. A file has the
first schema one of whose marks its records contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

Record: TypeAlias = Any
Paths: TypeAlias = Mapping[str, Sequence[str]]
#: Besides the fields: the country of registration, for records without a location.
REGISTERED = "registered_country_code"
_ALPHA2 = re.compile(r"[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class Schema:
    """The structure of a vendor's records.

    ``marks`` are sets of paths; the records must contain all paths of one set.
    ``fields`` lists the paths of each field in order of preference.
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
            # Some editions of DB-IP state plain codes and names.
            "continent_code": ("continent.code", "continent"),
            "country_code": ("country.iso_code", "country"),
            REGISTERED: ("registered_country.iso_code",),
            "region_code": ("subdivisions.0.iso_code",),
            "region_name": ("subdivisions.0.names.en",),
            "city_name": ("city.names.en", "city"),
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
    # The country of a company or carrier is where it is registered, not where the address is.
    Schema(
        "company of IPinfo",
        _marks("name as_name"),
        {
            "asn": ("asn",),
            "asn_organization": ("as_name",),
            "organization": ("name",),
            "user_type": ("type",),
        },
    ),
    Schema("carrier of IPinfo", _marks("name mcc"), {"isp": ("name",)}),
    # The country of an AS is where it is registered, not where the address is.
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
#: Keys that hold a code in some editions, a name in others.
_CODES = ("country", "continent")


def recognised(seen: set[str]) -> Paths | None:
    """Return the fields of the first schema that these paths match; None where none does."""
    return next((each.fields for each in SCHEMAS if any(mark <= seen for mark in each.marks)), None)


def paths_of(records: Sequence[Record]) -> set[str]:
    """Return the paths at which any of the records has a text or number."""
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


def texts_of(records: Sequence[Record], fields: Paths) -> dict[str, pa.Array]:
    """Return a text for each record and field: the value at the first of its paths that has one.

    Paths are followed step by step for all records at once; a shared step is followed once.
    """
    reached: dict[str, Sequence[Record]] = {"": records}
    found = {}
    for name, paths in fields.items():
        texts = [_texts(path, _at(path, reached)) for path in paths]
        first = texts[0]
        for others in texts[1:]:
            first = [one or other for one, other in zip(first, others, strict=True)]
        found[name] = pa.array([text or None for text in first], pa.string())
    return found


def _at(path: str, reached: dict[str, Sequence[Record]]) -> Sequence[Record]:
    """Return the value of each record at a path; None where there is none."""
    if path not in reached:
        above, _, step = path.rpartition(".")
        values = _at(above, reached)
        if step.isdigit():
            reached[path] = [_item(value, step) for value in values]
        else:
            reached[path] = [v.get(step) if v.__class__ is dict else None for v in values]
    return reached[path]


def _item(value: Record, step: str) -> Record:
    if isinstance(value, list):
        return value[int(step)] if int(step) < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _texts(path: str, values: Sequence[Record]) -> list[str | None]:
    texts = [v if v is None or v.__class__ is str else _text(v) for v in values]
    if path in _CODES:
        return [text if text and _ALPHA2.fullmatch(text) else None for text in texts]
    return texts


def _text(value: Record) -> str | None:
    """Return a text or number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)
