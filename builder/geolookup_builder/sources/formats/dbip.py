"""DB-IP's CSV files, Lite and paid: no header, the product's name states the columns.

The layout comes from the recipe or the file name and is checked against the first
rows. ``ZZ`` and coordinates of 0,0 mean "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyarrow as pa

from geolookup.errors import BuildError, near_match
from geolookup_builder.ranges import ParsedRanges, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import without, without_null_island
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.own_values import Offers, stated, words
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.sources.reading.vendor_files import (
    Plan,
    columns_option,
    planned_tables,
    stated_fields,
)

_RANGE = ("ip_start", "ip_end")
_PLACE_COLUMNS = ("district", "city", "zipcode", "latitude", "longitude", "geoname_id")
_ZONE = ("timezone_offset", "timezone_name", "weather_code")
#: By product, in the order of their tables.
LAYOUTS: dict[str, tuple[str, ...]] = {
    "location-isp": (
        *("continent", "country", "stateprov", *_PLACE_COLUMNS, *_ZONE),
        *("isp_name", "as_number", "connection_type", "organization_name"),
    ),
    "location": ("continent", "country", "stateprov_code", "stateprov", *_PLACE_COLUMNS, *_ZONE),
    "city-lite": ("continent", "country", "stateprov", "city", "latitude", "longitude"),
    "isp": (
        *("continent", "country", "isp_name", "as_number"),
        *("usage_type", "connection_type", "organization_name"),
    ),
    "country": ("continent", "country"),
    "country-lite": ("country",),
    "asn-lite": ("as_number", "as_organization"),
}
_FIELDS = {
    "continent": "continent_code",
    "country": "country_code",
    "stateprov_code": "region_code",
    "stateprov": "region_name",
    "city": "city_name",
    "zipcode": "postal_code",
    "latitude": "latitude",
    "longitude": "longitude",
    "timezone_name": "time_zone",
    "weather_code": "weather_code",
    "isp_name": "isp",
    "as_number": "asn",
    "as_organization": "asn_organization",
    "organization_name": "organization",
    "connection_type": "connection_type",
    "usage_type": "user_type",
}
_UNUSED = ("district", "geoname_id", "timezone_offset")
_OFFERS: Offers = {
    "geoname_id": words("geoname_id", {"0": None}),
    "district": stated("district"),
    "usage_type": stated("usage_type"),
}
_CONTENT = {
    "ip_start": sniffing.ADDRESS,
    "ip_end": sniffing.ADDRESS,
    "continent": sniffing.ALPHA2,
    "country": sniffing.ALPHA2,
    "latitude": sniffing.DEGREES,
    "longitude": sniffing.DEGREES,
    "as_number": sniffing.AS_NUMBER,
}
#: Further content that a file must hold to be detected as one of these.
_CONTINENT = {"continent": re.compile("AF|AN|AS|EU|NA|OC|SA|ZZ")}
# The longest name first: location-isp begins with location.
# The lookahead refuses dbip-country-foo-2026 but not dbip-country-2026-01.
_NAMED = re.compile(rf"dbip-({'|'.join(sorted(LAYOUTS, key=len, reverse=True))})(?![a-z-]*[a-z])")
_REMEDY = "name its layout, or its columns with columns = […]"


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    columns = _stated_columns(spec)
    yield from planned_tables(
        spec, (".csv",), (*LAYOUTS, "columns"), lambda member: _plan(member, spec, columns), _OFFERS
    )


def _stated_columns(spec: SourceSpec) -> tuple[str, ...] | None:
    layout = spec.options.get("layout")
    if layout is not None and layout not in LAYOUTS:
        problem = f"unknown layout {layout!r}"
        raise BuildError(spec.recipe, problem, remedy=near_match(str(layout), LAYOUTS))
    columns = columns_option(spec, (*_RANGE, *_FIELDS, *_UNUSED), _RANGE)
    if layout is not None and columns is not None:
        raise BuildError(spec.recipe, "both layout and columns", remedy="keep one of them")
    return columns


def _plan(member: Member, spec: SourceSpec, columns: tuple[str, ...] | None) -> Plan:
    rows = sniffing.sample(member)
    table = "columns" if columns else spec.options.get("layout") or _named_layout(member)
    names = columns or (*_RANGE, *LAYOUTS[table])
    label = f"the layout {table}" if columns is None else table
    sniffing.check_width(rows, len(names), label, _REMEDY)
    sniffing.check_content(rows, names, _CONTENT, label)
    layout = Layout(names, frozenset(_RANGE), frozenset(_FIELDS), header=False)
    return Plan(table, layout, _meaning)


def _named_layout(member: Member) -> str:
    for name in member.file_names:
        if layout := _layout_in(name):
            return layout
    remedy = f'write layout = "…" in the recipe: one of {", ".join(LAYOUTS)}'
    raise BuildError(member.label, "the file name states no layout", remedy=remedy)


def _layout_in(name: str) -> str | None:
    match = _NAMED.search(name.lower())
    return match[1] if match else None


def _meaning(rows: pa.RecordBatch) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
    fields = stated_fields(rows, _FIELDS)
    for name in ("continent_code", "country_code"):
        if name in fields:
            fields[name] = without(fields[name], "ZZ")
    return from_pairs(rows.column("ip_start"), rows.column("ip_end")), without_null_island(fields)


def _detect(opening: Opening) -> Detection | None:
    rows = sample_without_header(opening.start)
    candidates = [
        name
        for name, columns in LAYOUTS.items()
        if rows
        and rows.width == len(_RANGE) + len(columns)
        and not sniffing.mismatch(rows, (*_RANGE, *columns), _CONTENT | _CONTINENT)
    ]
    by_name = next(filter(None, map(_layout_in, opening.member.file_names)), None)
    if by_name in candidates:
        return Detection(f"layout {by_name}", has_own_name=True)
    return Detection(f"layout {' or '.join(candidates)}") if candidates else None


FORMAT = SourceFormat(
    "dbip", frozenset({"layout", "columns"}), _read, _detect, offers=frozenset(_OFFERS)
)
