"""IPinfo's products: the columns of each, and the fields that they state.

The same for CSV, JSON lines, Parquet and MMDB, in both generations of files: ``country`` is a code
in older files, and a name beside ``country_code`` in newer ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.reading.dictionary_columns import with_values
from geolookup_builder.sources.reading.products import (
    ALWAYS,
    Offer,
    Offers,
    Product,
    flag,
    if_true,
    stated,
)

RANGES = (("network",), ("start_ip", "end_ip"), ("ip",))
_CODE = "^[A-Z0-9]{1,3}$"


def _codes(regions: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the regions that look like codes, as ``region`` is beside ``region_name``."""
    texts = regions.dictionary.cast(pa.string())
    codes = pc.match_substring_regex(texts, _CODE)
    return with_values(regions, pc.if_else(codes, texts, pa.scalar(None, pa.string())))


_COUNTRY: Mapping[str, Offers] = {
    "country_code": stated("country_code", "country"),
    "continent_code": stated("continent_code", "continent"),
}
_PLACE: Mapping[str, Offers] = {
    **_COUNTRY,
    "region_code": stated("region_code"),
    "region_name": stated("region_name", "region"),
    "city_name": stated("city"),
    "postal_code": stated("postal_code", "postal"),
    "latitude": stated("latitude", "lat"),
    "longitude": stated("longitude", "lng"),
    "time_zone": stated("timezone"),
    "geoname_id": stated("geoname_id"),
    "accuracy_radius": stated("radius"),
    "metro_code": stated("dma_code"),
}
_EXTENDED = {**_PLACE, "region_code": Offer(("region",), _codes)}
_AS: Mapping[str, Offers] = {"asn": stated("asn"), "asn_organization": stated("as_name")}
#: Of products with the AS beside other facts.
_AS_FACTS: Mapping[str, Offers] = {"asn_domain": stated("as_domain"), "asn_kind": stated("as_type")}
_CARRIER: Mapping[str, Offers] = {"mcc": stated("mcc"), "mnc": stated("mnc")}
_PRIVATE = "consumer_privacy_network"
#: The first true flag decides; it takes precedence over the word that a row states.
_USERS = (
    *(if_true(name, _PRIVATE) for name in ("is_relay", "relay", "is_vpn", "vpn")),
    *(if_true(name, "hosting") for name in ("is_hosting", "hosting")),
    if_true("is_mobile", "cellular"),
)
_LINES = (if_true("is_mobile", "Mobile"), if_true("is_satellite", "Satellite"))
_FLAGS: Mapping[str, Offers] = {
    "user_type": _USERS,
    "connection_type": _LINES,
    "is_anonymous": stated("is_anonymous", "is_anon"),
    "is_proxy": stated("is_proxy", "proxy"),
    "is_vpn": stated("is_vpn", "vpn"),
    "is_tor": stated("is_tor", "tor"),
    "is_relay": stated("is_relay", "relay"),
    "is_hosting": stated("is_hosting", "hosting"),
    "is_anycast": stated("is_anycast", "anycast"),
    "is_mobile": stated("is_mobile", "mobile"),
    "is_satellite": stated("is_satellite", "satellite"),
    "proxy_provider": stated("service", "privacy_name"),
}
#: Helpers, and names of what codes state.
_HELPERS = ("join_key", "start_ip", "end_ip", "country_name", "continent_name")
#: The country of a company, an AS or a carrier is where it is registered, not a location.
_HOLDERS = (*_HELPERS, "country", "country_code", "continent", "continent_code")


def _product(
    name: str, marks: str, *values: Mapping[str, Offers], unread: tuple[str, ...] = _HELPERS
) -> Product:
    all_values = {column: offer for part in values for column, offer in part.items()}
    return Product(name, RANGES, all_values, unread, (frozenset(marks.split()),))


#: In the order of their tables; of a file that fits several, the first that knows most is used.
PRODUCTS = (
    _product(
        "Core",  # and Plus, with more columns
        "city asn",
        *(_PLACE, _AS, _AS_FACTS, _CARRIER, _FLAGS),
        {
            "user_type": (*_USERS, stated("as_type")),
            "isp": stated("carrier_name"),
            "mobile_brand": stated("carrier_name"),
        },
        unread=(
            *_HELPERS,
            *("as_changed", "geo_changed", "as_stability", "geo_stability", "cdn_name"),
            *("city_confidence", "region_confidence", "country_confidence"),  # words
        ),
    ),
    _product("Location", "city region region_name", _EXTENDED),
    _product("Location", "city", _PLACE),
    *(
        _product(
            "Carrier",
            f"{name} mcc",
            _CARRIER,
            {
                "isp": stated(name),
                "mobile_brand": stated(name),
                "is_mobile": ALWAYS,
                "user_type": Offer(constant="cellular"),
                "connection_type": Offer(constant="Mobile"),
            },
            unread=_HOLDERS,
        )
        for name in ("name", "carrier")
    ),
    _product(
        "Privacy",
        "vpn hosting",
        _FLAGS,
        {
            "is_proxy": flag("is_proxy", "proxy"),
            "is_vpn": flag("is_vpn", "vpn"),
            "is_tor": flag("is_tor", "tor"),
            "is_relay": flag("is_relay", "relay"),
            "is_hosting": flag("is_hosting", "hosting"),
            "last_seen_date": stated("last_seen"),
        },
        unread=(
            *_HELPERS,
            *("first_seen", "confidence", "coverage", "census", "census_ports"),
            *("device_activity", "inferred", "vpn_config", "whois"),
        ),
    ),
    _product(
        "Company",
        "name as_name",
        _AS,
        _AS_FACTS,
        {
            "organization": stated("name"),
            "user_type": stated("type"),
            "domain": stated("domain"),
            "usage_type": stated("type"),
        },
        unread=_HOLDERS,
    ),
    _product(
        "ASN",
        "asn name",
        {
            "asn": stated("asn"),
            "asn_organization": stated("name"),
            "user_type": stated("type"),
            "asn_domain": stated("domain"),
            "asn_kind": stated("type"),
            "asn_country_code": stated("country"),
        },
        unread=_HOLDERS,
    ),
    _product(
        "Device Count",
        "asn devices_daily",
        {"asn": stated("asn")},
        unread=(*_HELPERS, "shared", "devices_daily", "devices_weekly", "devices_monthly"),
    ),
    _product("Country ASN", "country continent asn", _COUNTRY, _AS, _AS_FACTS),  # and Lite
    _product("Country", "country continent", _COUNTRY),
    _product(
        "Residential Proxy",
        "service percent_days_seen",
        {
            "is_residential_proxy": ALWAYS,
            "proxy_provider": stated("service"),
            "last_seen_date": stated("last_seen"),
        },
        unread=(*_HELPERS, "percent_days_seen"),
    ),
)
