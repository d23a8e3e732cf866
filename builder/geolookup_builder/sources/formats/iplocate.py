"""iplocate.io: ip-to-country and ip-to-asn, zipped or plain."""

from __future__ import annotations

from functools import partial

from geolookup_builder.sources.reading.product_files import (
    detect_product,
    offered_columns,
    product_tables,
)
from geolookup_builder.sources.reading.products import Product, stated
from geolookup_builder.sources.reading.reader import SourceFormat

_NAME, _RANGE = "iplocate", (("network",),)
COUNTRY = Product(
    "Country",
    _RANGE,
    {"continent_code": stated("continent_code"), "country_code": stated("country_code")},
    unread=("country_name",),
    marks=(frozenset({"continent_code", "country_code"}),),
)
#: The country is where the holder is registered. Its full name, else its handle.
ASN = Product(
    "ASN",
    _RANGE,
    {
        "asn": stated("asn"),
        "asn_organization": (stated("org"), stated("name")),
        "asn_domain": stated("domain"),
        "asn_country_code": stated("country_code"),
    },
    marks=(frozenset({"asn", "name", "org"}),),
)
_PRODUCTS = (COUNTRY, ASN)
FORMAT = SourceFormat(
    _NAME,
    frozenset(),
    partial(product_tables, products=_PRODUCTS, suffixes=(".csv",)),
    partial(detect_product, format_=_NAME, products=_PRODUCTS),
    offers=offered_columns(_PRODUCTS),
)
