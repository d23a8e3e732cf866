"""IP2Location's CSV files: DB1 to DB26 and ASN, IPv4 and IPv6, all editions of the range.

The IPv4 space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler.
The time zone column is an offset that includes summer time; it identifies no zone and
is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.ip2location_files import Catalogue
from geolookup_builder.sources.formats.ip2location_layouts import CONTENT, DATABASES, HOLDS
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Product
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, sample_without_header

PRODUCT = Product(
    "IP2Location",
    (),
    {
        **{
            field: known(column)
            for field, column in {
                "country_code": "country_code",
                "region_name": "region",
                "city_name": "city",
                "latitude": "latitude",
                "longitude": "longitude",
                "postal_code": "zip",
                "isp": "isp",
                "connection_type": "net_speed",
                "weather_code": "weather_station_code",
                "user_type": "usage_type",
                "asn": "asn",
                "asn_organization": "as",
            }.items()
        },
        **{
            name: known(name)
            for name in (
                *("domain", "mcc", "mnc", "mobile_brand", "usage_type", "address_type"),
                *("category", "district", "area_code", "weather_station_name", "elevation"),
            )
        },
    },
    unread=("country_name", "time_zone", "idd_code", "cidr", "appended_from", "appended_to"),
)
#: What distinguishes these files from others of the same width: names, countries in words.
_NAMED = re.compile(r"IP2LOCATION|(?<![A-Z0-9])DB[0-9]{1,2}(?![0-9])|^IP-COUNTRY", re.IGNORECASE)
_DETECTED = {**CONTENT, "country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}")}
_CATALOGUE = Catalogue(
    PRODUCT, "DB", 'a number from 1 to 26, or "ASN"', "", HOLDS, DATABASES, CONTENT
)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    return _CATALOGUE.tables(spec, lambda _rows: None)


def _detect(opening: Opening) -> Detection | None:
    rows, names = sample_without_header(opening.start), opening.member.file_names
    candidates = _CATALOGUE.candidates(rows, _DETECTED) if rows else []
    database = _CATALOGUE.database_in_names(names)
    if database in candidates and any(map(_NAMED.search, names)):
        return Detection(database, has_own_name=True)
    return Detection(" or ".join(candidates)) if candidates else None


FORMAT = SourceFormat(
    "ip2location", frozenset({"db", "regions"}), _read, _detect, offers=offered_columns([PRODUCT])
)
