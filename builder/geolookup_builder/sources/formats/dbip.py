"""DB-IP's CSV files, Lite and paid: no header, the product's name states the columns.

The layout comes from the recipe or the file name and is checked against the first
rows. ``ZZ`` and coordinates of 0,0 mean "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.mapping import columns_option
from geolookup_builder.sources.formats.headerless import COMMAS, headerless_tables
from geolookup_builder.sources.formats.vendor_values import known, located
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Header, Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header

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
_PRODUCT = Product(
    "DB-IP",
    (_RANGE,),
    {
        "continent_code": known("continent", missing="ZZ"),
        "country_code": known("country", missing="ZZ"),
        "region_code": stated("stateprov_code"),
        "region_name": stated("stateprov"),
        "city_name": stated("city"),
        "postal_code": stated("zipcode"),
        "latitude": stated("latitude"),
        "longitude": stated("longitude"),
        "time_zone": stated("timezone_name"),
        "weather_code": stated("weather_code"),
        "isp": stated("isp_name"),
        "asn": stated("as_number"),
        "asn_organization": stated("as_organization"),
        "organization": stated("organization_name"),
        "connection_type": stated("connection_type"),
        "user_type": stated("usage_type"),
        "geoname_id": known("geoname_id", missing="0"),
        "district": stated("district"),
        "usage_type": stated("usage_type"),
    },
    unread=("timezone_offset",),
    finish=located,
)
_COLUMNS = tuple(dict.fromkeys(name for layout in LAYOUTS.values() for name in layout))
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

    def plan(member: Member, planner: Planner) -> tuple[str, Reading]:
        rows = sniffing.sample(member)
        table = "columns" if columns else spec.options.get("layout") or _named_layout(member)
        names = columns or (*_RANGE, *LAYOUTS[table])
        label = f"the layout {table}" if columns is None else table
        sniffing.check_width(rows, len(names), label, _REMEDY)
        sniffing.check_content(rows, names, _CONTENT, label)
        return table, planner.plan(Header(member.label, names), _PRODUCT, COMMAS)

    return headerless_tables(spec, (".csv",), (*LAYOUTS, "columns"), plan)


def _stated_columns(spec: SourceSpec) -> tuple[str, ...] | None:
    layout = spec.options.get("layout")
    if layout is not None and layout not in LAYOUTS:
        problem = f"unknown layout {layout!r}"
        raise BuildError(spec.recipe, problem, remedy=near_match(str(layout), LAYOUTS))
    columns = columns_option(spec, (*_RANGE, *_COLUMNS), _RANGE)
    if layout is not None and columns is not None:
        raise BuildError(spec.recipe, "both layout and columns", remedy="keep one of them")
    return columns


def _named_layout(member: Member) -> str:
    layout = _layout_in_names(member)
    if layout is None:
        remedy = f'write layout = "…" in the recipe: one of {", ".join(LAYOUTS)}'
        raise BuildError(member.label, "the file name states no layout", remedy=remedy)
    return layout


def _layout_in_names(member: Member) -> str | None:
    matches = (_NAMED.search(name.lower()) for name in member.file_names)
    return next((match[1] for match in matches if match), None)


def _detect(opening: Opening) -> Detection | None:
    rows = sample_without_header(opening.start)
    candidates = [
        name
        for name, columns in LAYOUTS.items()
        if rows
        and rows.width == len(_RANGE) + len(columns)
        and not sniffing.mismatch(rows, (*_RANGE, *columns), _CONTENT | _CONTINENT)
    ]
    by_name = _layout_in_names(opening.member)
    if by_name in candidates:
        return Detection(f"layout {by_name}", has_own_name=True)
    return Detection(f"layout {' or '.join(candidates)}") if candidates else None


FORMAT = SourceFormat(
    "dbip", frozenset({"layout", "columns"}), _read, _detect, offers=offered_columns([_PRODUCT])
)
