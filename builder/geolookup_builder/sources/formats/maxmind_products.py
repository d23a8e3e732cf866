"""MaxMind's products: the columns that tell their Blocks files apart, and what the columns mean.

Blocks refer by ids to tables of locations and providers. The columns of these count as columns of
the Blocks file; ``maxmind`` adds them to its rows. ``city_name:de`` is a column of the German
Locations, ``country_iso_code:registered`` one of the location of the registered country.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from geolookup_builder.sources.formats.vendor_values import NO_FIELD, offers, product
from geolookup_builder.sources.reading.products import Offers, flag

#: The columns of a range, the usual one first; the others are written by geoip2-csv-converter.
HEXADECIMAL = ("network_start_hex", "network_last_hex")
RANGES = (
    ("network",),
    ("network_start_ip", "network_last_ip"),
    ("network_start_integer", "network_last_integer"),
    HEXADECIMAL,
)
#: A blank ``is_anycast`` is unknown: GeoLite2 has only blanks.
_LOCATION = """
    continent_code country_code=country_iso_code region_code=subdivision_1_iso_code
    region_name=subdivision_1_name city_name time_zone metro_code
    subdivision_2_code=subdivision_2_iso_code subdivision_2_name city_name_LANG=city_name:LANG
    region_name_LANG=subdivision_1_name:LANG country_name_LANG=country_name:LANG
    registered_country_code=country_iso_code:registered
    represented_country_code=country_iso_code:represented postal_code latitude longitude
    accuracy_radius geoname_id is_anycast
"""
#: Of Blocks; ``is_satellite_provider`` and ``is_anonymous_proxy`` are no longer maintained.
_UNREAD = (
    "registered_country_geoname_id represented_country_geoname_id is_anonymous_proxy "
    "is_satellite_provider locale_code continent_name country_name is_in_european_union"
)
_MOBILE = "mcc=mobile_country_code mnc=mobile_network_code"
_PROVIDER = f"""
    isp organization asn=autonomous_system_number connection_type user_type {_MOBILE}
    asn_organization=autonomous_system_organization
"""
_FLAGS = (
    "is_anonymous is_vpn=is_anonymous_vpn is_hosting=is_hosting_provider is_proxy=is_public_proxy "
    "is_tor=is_tor_exit_node is_residential_proxy"
)
#: A flag about anonymity that is blank is false.
_ANONYMIZERS: Mapping[str, Offers] = {
    **offers(_FLAGS, flag),
    **offers("proxy_provider=provider_name anonymizer_confidence last_seen_date=network_last_seen"),
}
#: The columns that records of MMDB files have below ``traits``, besides the provider.
TRAITS = f"domain usage_type=user_type {_MOBILE} is_anycast is_legitimate_proxy {_FLAGS}"

_product = partial(product, ranges=RANGES)
_own = partial(product, ranges=RANGES, refusal=NO_FIELD)
#: In the order of their tables; a file with the columns of several is of the first one.
PRODUCTS = (
    _product(
        "Enterprise",
        "geoname_id isp_id",
        f"{_LOCATION} {_PROVIDER} usage_type=user_type is_legitimate_proxy domain "
        "country_confidence subdivision_confidence city_confidence postal_confidence",
        unread=f"isp_id {_UNREAD}",
    ),
    _product("City", "geoname_id latitude", _LOCATION, unread=_UNREAD),
    _product("Country", "geoname_id", _LOCATION, unread=_UNREAD),
    _product("ISP", "isp", _PROVIDER),
    _product("ASN", "autonomous_system_number", _PROVIDER),
    _product("Connection-Type", "connection_type", _PROVIDER),
)
#: Those with own columns only.
OWN_PRODUCTS = (
    _own("Domain", "domain", "domain"),
    _own("IP-Risk", "ip_risk", _ANONYMIZERS, "ip_risk"),
    _own("Anonymous-IP", "is_anonymous", _ANONYMIZERS),
    _own("Static-IP-Score", "score", "static_ip_score=score"),
    _own("Static-IP-Score", "static_ip_score", "static_ip_score"),
    _own("User-Count", "ipv4_24", unread="ipv4_24 ipv4_32 ipv6_32 ipv6_48 ipv6_64"),
    _own("Residential-Proxy", "anonymizer_confidence", _ANONYMIZERS, "is_residential_proxy='true'"),
    _own("DensityIncome", "population_density", "average_income population_density"),
)
