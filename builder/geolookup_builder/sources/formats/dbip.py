"""DB-IP's CSV files, Lite and paid: no header, the product's name states the columns.

The layout comes from the recipe or the file name and is checked against the first
rows. ``ZZ`` and coordinates of 0,0 mean "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geolookup.errors import BuildError, near_match
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import listed_columns
from geolookup_builder.sources.formats.headerless import Catalogue, Edition
from geolookup_builder.sources.formats.vendor_values import known, located
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable

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
# The longest name first: location-isp begins with location.
# The lookahead refuses dbip-country-foo-2026 but not dbip-country-2026-01.
_NAMED = re.compile(rf"dbip-({'|'.join(sorted(LAYOUTS, key=len, reverse=True))})(?![a-z-]*[a-z])")


def _layout_in(name: str) -> str | None:
    match = _NAMED.search(name.lower())
    return match[1] if match else None


_CATALOGUE = Catalogue(
    _PRODUCT,
    {name: (columns,) for name, columns in LAYOUTS.items()},
    (Edition(_RANGE, (sniffing.ADDRESS, sniffing.ADDRESS)),),
    {
        "continent": sniffing.ALPHA2,
        "country": sniffing.ALPHA2,
        "latitude": sniffing.DEGREES,
        "longitude": sniffing.DEGREES,
        "as_number": sniffing.AS_NUMBER,
    },
    f'write layout = "…" in the recipe, one of {", ".join(LAYOUTS)}, or columns = […]',
    label="the layout {}",
    detected={"continent": re.compile("AF|AN|AS|EU|NA|OC|SA|ZZ")},
    table_in=_layout_in,
)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    layout = spec.options.get("layout")
    if layout is not None and layout not in LAYOUTS:
        problem = f"unknown layout {layout!r}"
        raise BuildError(spec.recipe, problem, remedy=near_match(str(layout), LAYOUTS))
    columns = listed_columns(spec, (*_RANGE, *_COLUMNS), _RANGE)
    if layout is not None and columns is not None:
        raise BuildError(spec.recipe, "both layout and columns", remedy="keep one of them")
    return _CATALOGUE.read(spec, table=layout, columns=columns)


FORMAT = SourceFormat(
    "dbip",
    frozenset({"layout", "columns"}),
    _read,
    _CATALOGUE.detect,
    offers=offered_columns([_PRODUCT]),
)
