"""The ip-location-db collection of sapics: no header, ranges as text or (``-num``) integers.

The number of columns tells country, AS and city files apart. City files have their
columns in one of two orders: the one in which the coordinates have a fraction is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import listed_columns
from geolookup_builder.sources.formats.headerless import END, Catalogue, Edition
from geolookup_builder.sources.formats.vendor_values import located
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening

_RANGE = ("start", "end")
_POSITION = ("latitude", "longitude")
#: In their order, with the columns after the range.
_TABLES = {
    "city": (
        # As in the files, and as on the collection's own page.
        ("country_code", "state1", "state2", "city", "postcode", *_POSITION, "timezone"),
        ("country_code", "city", "state1", "state2", *_POSITION, "postcode", "timezone"),
    ),
    "country": (("country_code",),),
    "asn": (("asn", "organisation"),),
}
_PRODUCT = Product(
    "sapics",
    (_RANGE,),
    {
        "country_code": stated("country_code"),
        "region_name": stated("state1"),
        "city_name": stated("city"),
        "postal_code": stated("postcode"),
        "latitude": stated("latitude"),
        "longitude": stated("longitude"),
        "time_zone": stated("timezone"),
        "asn": stated("asn"),
        "asn_organization": stated("organisation"),
        "subdivision_2_name": stated("state2"),
    },
    finish=located,
)
#: "52.3740": neither postcodes nor names are numbers with a fraction.
_FRACTION = re.compile(r"[+-]?[0-9]{1,3}\.[0-9]+")
_CATALOGUE = Catalogue(
    _PRODUCT,
    _TABLES,
    (Edition(_RANGE, (END, END)),),
    {
        "country_code": sniffing.ALPHA2,
        "asn": sniffing.AS_NUMBER,
        "latitude": _FRACTION,
        "longitude": _FRACTION,
    },
    "name a country, asn or city file, or state its columns with columns = […]",
    label="a {} file of sapics",
    detected={"timezone": re.compile(r"[A-Z][A-Za-z_]+/.+")},  # "Europe/Paris"
    in_order=False,
)
#: What distinguishes these files from others of the same width, besides zones of IANA's database.
_NAMED = re.compile(r"-ipv[46](-num)?(?![a-z0-9-])", re.IGNORECASE)


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    choices = [name for orders in _TABLES.values() for name in orders[0]]
    return _CATALOGUE.read(spec, columns=listed_columns(spec, (*_RANGE, *choices), _RANGE))


def _detect(opening: Opening) -> Detection | None:
    detection = _CATALOGUE.detect(opening)
    has_name = any(map(_NAMED.search, opening.member.file_names))
    return detection and replace(detection, has_own_name=has_name)


FORMAT = SourceFormat(
    "sapics", frozenset({"columns"}), _read, _detect, offers=offered_columns([_PRODUCT])
)
