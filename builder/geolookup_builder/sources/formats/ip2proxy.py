"""IP2Proxy's CSV files, PX1 to PX12: addresses of proxies, both families, all editions.

The database comes from the recipe or the file name, else from the number of columns. The type of
a proxy gives the user type if the contract has a word for it; else the usage type does.
"""

from __future__ import annotations

import re
from functools import partial

from geolookup_builder.sources.formats.headerless import Catalogue
from geolookup_builder.sources.formats.ip2location import MISSING, numbered, read_databases
from geolookup_builder.sources.formats.ip2location_layouts import CONTENT, EDITIONS
from geolookup_builder.sources.formats.vendor_values import known
from geolookup_builder.sources.reading.product_files import offered_columns
from geolookup_builder.sources.reading.products import Product, words
from geolookup_builder.sources.reading.reader import SourceFormat

#: The columns that each database adds at the end of the one before. From PX2 the type of the proxy
#: is the first column. PX10 has more rows than PX9.
_ADDS: tuple[tuple[str, ...], ...] = (
    ("country_code", "country_name"),
    (),
    ("region", "city"),
    ("isp",),
    ("domain",),
    ("usage_type",),
    ("asn", "as"),
    ("last_seen",),
    ("threat",),
    (),
    ("provider",),
    ("fraud_score",),
)


def _columns(number: int) -> tuple[str, ...]:
    # PX4: the columns of PX1 to PX4, after the type of the proxy.
    columns = tuple(name for names in _ADDS[:number] for name in names)
    return ("proxy_type", *columns) if number > 1 else columns


_DATABASES = {f"PX{number}": (_columns(number),) for number in range(len(_ADDS), 0, -1)}
_CONTENT = {
    **CONTENT,
    "proxy_type": re.compile(r"[A-Z]{3}"),
    "last_seen": re.compile(r"[0-9]{1,5}"),
    "threat": re.compile(r"[A-Z]+(/[A-Z]+)*"),
    "fraud_score": re.compile(r"[0-9]{1,3}"),
}
#: The user type of each type of proxy; None if the contract has no word, and the usage type
#: decides. A residential proxy is at the address of a subscriber.
_USER_TYPES = {
    "VPN": "consumer_privacy_network",
    "TOR": "consumer_privacy_network",
    "CPN": "consumer_privacy_network",
    "DCH": "hosting",
    "SES": "search_engine_spider",
    "EPN": "business",
    "RES": None,
    "PUB": None,
    "WEB": None,
    "AIC": None,
    MISSING: None,
}


def _flags(*true: str) -> dict[str, str | None]:
    """Return the values of a flag by the type of the proxy: true for some types."""
    return {
        name: None if name == MISSING else "true" if name in true else "false"
        for name in _USER_TYPES
    }


PRODUCT = Product(
    "IP2Proxy",
    (),
    {
        "country_code": known("country_code"),
        # As converters to MMDB write them, too.
        "region_name": (known("region"), known("region_name")),
        "city_name": (known("city"), known("city_name")),
        "isp": known("isp"),
        "asn": known("asn"),
        "asn_organization": known("as"),
        "user_type": (words("proxy_type", _USER_TYPES), known("usage_type")),
        # The vendor states one type per row; a hosting provider or search engine is not a proxy.
        "is_proxy": words("proxy_type", _flags(*_USER_TYPES.keys() - {"DCH", "SES", "AIC"})),
        "is_vpn": words("proxy_type", _flags("VPN")),
        "is_tor": words("proxy_type", _flags("TOR")),
        "is_relay": words("proxy_type", _flags("CPN")),
        "is_residential_proxy": words("proxy_type", _flags("RES")),
        "is_hosting": words("proxy_type", {**dict.fromkeys(_USER_TYPES), "DCH": "true"}),
        **{
            name: known(name)
            for name in ("proxy_type", "threat", "fraud_score", "domain", "usage_type")
        },
        "proxy_provider": known("provider"),
        "last_seen_days": known("last_seen"),
    },
    unread=("country_name", "cidr", "appended_from", "appended_to"),
)
_CATALOGUE = Catalogue(
    PRODUCT,
    _DATABASES,
    EDITIONS,
    _CONTENT,
    "write db in the recipe, a number from 1 to 12",
    detected={"proxy_type": re.compile("|".join(t for t in _USER_TYPES if t != MISSING))},
    missing=(MISSING,),
    table_in=partial(numbered, prefix="PX"),
    hidden=frozenset({"PX1"}),  # it has no column of its own
)
FORMAT = SourceFormat(
    "ip2proxy",
    frozenset({"db", "regions"}),
    partial(read_databases, catalogue=_CATALOGUE, prefix="PX"),
    _CATALOGUE.detect,
    offers=offered_columns([PRODUCT]),
)
