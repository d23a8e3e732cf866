"""ip2region's source text: cells separated by pipes, no quotes, ``0`` for unknown.

There are two layouts of the same width: the newer ends with country codes, the older
with providers. The first rows show which one a file has.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from geolookup_builder.sources.formats.headerless import TABS, Catalogue, Edition
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.products import Product
from geolookup_builder.sources.reading.reader import SourceFormat

_RANGE, _MISSING = ("start", "end"), "0"
_PRODUCT = Product(
    "regions",
    (_RANGE,),
    {
        "country_code": known("alpha2", missing=_MISSING),
        "region_name": known("province", missing=_MISSING),
        "city_name": known("city", missing=_MISSING),
        "isp": known("ISP", missing=_MISSING),
    },
    unread=("country", "area"),
)
_CATALOGUE = Catalogue(
    _PRODUCT,
    {
        "regions": (
            ("country", "province", "city", "ISP", "alpha2"),
            ("country", "area", "province", "city", "ISP"),
        )
    },
    (Edition(_RANGE, (sniffing.ADDRESS, sniffing.ADDRESS)),),
    {"alpha2": sniffing.ALPHA2},
    "name its text file, not the .xdb made from it",
    label="ip2region's source text",
    missing=(_MISSING,),
    layout=replace(TABS, delimiter="|"),
)
FORMAT = SourceFormat(
    "ip2region", frozenset(), partial(_CATALOGUE.read, suffix=".txt"), _CATALOGUE.detect
)
