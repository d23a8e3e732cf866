"""MaxMind's products: the columns that tell their Blocks files apart, and what the columns mean.

Blocks refer by ids to tables of locations and providers. The columns of these count as columns of
the Blocks file; ``maxmind_joins`` adds them to its rows. ``city_name:de`` is a column of the German
Locations, ``registered:country_iso_code`` one of the location of the registered country.
"""

from __future__ import annotations

from collections.abc import Mapping

from geolookup_builder.sources.formats.vendor_values import NO_FIELD
from geolookup_builder.sources.reading.products import ALWAYS, Offer, Offers, Product, flag, stated

#: The columns of a range, the usual one first; the others are written by geoip2-csv-converter.
HEXADECIMAL = ("network_start_hex", "network_last_hex")
RANGES = (
    ("network",),
    ("network_start_ip", "network_last_ip"),
    ("network_start_integer", "network_last_integer"),
    HEXADECIMAL,
)
#: Own columns with the names of MaxMind's columns, of all products of a row.
_LOCATION: Mapping[str, Offers] = {
    "continent_code": stated("continent_code"),
    "country_code": stated("country_iso_code"),
    "region_code": stated("subdivision_1_iso_code"),
    "region_name": stated("subdivision_1_name"),
    "city_name": stated("city_name"),
    "time_zone": stated("time_zone"),
    "metro_code": stated("metro_code"),
    "subdivision_2_code": stated("subdivision_2_iso_code"),
    "subdivision_2_name": stated("subdivision_2_name"),
    "city_name_LANG": stated("city_name:LANG"),
    "region_name_LANG": stated("subdivision_1_name:LANG"),
    "country_name_LANG": stated("country_name:LANG"),
    "registered_country_code": stated("registered:country_iso_code"),
    "represented_country_code": stated("represented:country_iso_code"),
    "postal_code": stated("postal_code"),
    "latitude": stated("latitude"),
    "longitude": stated("longitude"),
    "accuracy_radius": stated("accuracy_radius"),
    "geoname_id": stated("geoname_id"),
    # A blank ``is_anycast`` is unknown: GeoLite2 has only blanks.
    "is_anycast": stated("is_anycast"),
}
#: Of Blocks; ``is_satellite_provider`` and ``is_anonymous_proxy`` are no longer maintained.
_UNREAD_IDS = (
    *("registered_country_geoname_id", "represented_country_geoname_id"),
    *("is_anonymous_proxy", "is_satellite_provider", "locale_code", "continent_name"),
    *("country_name", "is_in_european_union"),
)
PROVIDER: Mapping[str, Offers] = {
    "isp": stated("isp"),
    "organization": stated("organization"),
    "asn": stated("autonomous_system_number"),
    "asn_organization": stated("autonomous_system_organization"),
    "connection_type": stated("connection_type"),
    "user_type": stated("user_type"),
    "mcc": stated("mobile_country_code"),
    "mnc": stated("mobile_network_code"),
}
#: A flag about anonymity that is blank is false.
_FLAGS = {
    "is_anonymous": flag("is_anonymous"),
    "is_vpn": flag("is_anonymous_vpn"),
    "is_hosting": flag("is_hosting_provider"),
    "is_proxy": flag("is_public_proxy"),
    "is_tor": flag("is_tor_exit_node"),
    "is_residential_proxy": flag("is_residential_proxy"),
}
_ANONYMIZERS: Mapping[str, Offers] = {
    **_FLAGS,
    "proxy_provider": stated("provider_name"),
    "anonymizer_confidence": stated("anonymizer_confidence"),
    "last_seen_date": stated("network_last_seen"),
}
_ENTERPRISE: Mapping[str, Offers] = {
    **_LOCATION,
    **PROVIDER,
    "usage_type": stated("user_type"),
    **{
        name: stated(name)
        for name in (
            *("is_legitimate_proxy", "domain", "country_confidence", "subdivision_confidence"),
            *("city_confidence", "postal_confidence"),
        )
    },
}


#: The columns that records of MMDB files have below ``traits``, besides the provider.
TRAITS: Mapping[str, Offer] = {
    "domain": stated("domain"),
    "usage_type": stated("user_type"),
    "mcc": stated("mobile_country_code"),
    "mnc": stated("mobile_network_code"),
    "is_anycast": stated("is_anycast"),
    "is_legitimate_proxy": stated("is_legitimate_proxy"),
    **_FLAGS,
}


def _product(
    name: str, marks: str, values: Mapping[str, Offers], *unread: str, refusal: str = ""
) -> Product:
    keys = (frozenset(marks.split()),)
    return Product(name, RANGES, values, unread, marks=keys, refusal=refusal)


def _ignored(name: str, marks: str, values: Mapping[str, Offers], *unread: str) -> Product:
    return _product(name, marks, values, *unread, refusal=NO_FIELD)


#: In the order of their tables; a file with the columns of several is of the first one. The last
#: have own columns only.
PRODUCTS = (
    _product("Enterprise", "geoname_id isp_id", _ENTERPRISE, "isp_id", *_UNREAD_IDS),
    _product("City", "geoname_id latitude", _LOCATION, *_UNREAD_IDS),
    _product("Country", "geoname_id", _LOCATION, *_UNREAD_IDS),
    _product("ISP", "isp", PROVIDER),
    _product("ASN", "autonomous_system_number", PROVIDER),
    _product("Connection-Type", "connection_type", PROVIDER),
    _ignored("Domain", "domain", {"domain": stated("domain")}),
    _ignored("IP-Risk", "ip_risk", {**_ANONYMIZERS, "ip_risk": stated("ip_risk")}),
    _ignored("Anonymous-IP", "is_anonymous", _ANONYMIZERS),
    *(
        _ignored("Static-IP-Score", column, {"static_ip_score": stated(column)})
        for column in ("score", "static_ip_score")
    ),
    _ignored("User-Count", "ipv4_24", {}, *("ipv4_24", "ipv4_32", "ipv6_32", "ipv6_48", "ipv6_64")),
    _ignored(
        "Residential-Proxy",
        "anonymizer_confidence",
        {**_ANONYMIZERS, "is_residential_proxy": ALWAYS},
    ),
    _ignored(
        "DensityIncome",
        "population_density",
        {name: stated(name) for name in ("average_income", "population_density")},
    ),
)
