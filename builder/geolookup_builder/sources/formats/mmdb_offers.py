"""The own columns of the products of MMDB files: the keys that may state each.

Products with a CSV of the same keys have theirs beside it: ``mmdb_ipinfo``, ``ip2proxy``.
"""

from __future__ import annotations

from geolookup_builder.sources.formats import mmdb_ipinfo
from geolookup_builder.sources.reading.own_values import ALWAYS, Offers, stated
from geolookup_builder.vendor_columns import COLUMNS, LANGUAGE

#: Of MaxMind's structure. A flag that is absent is unknown: the files of GeoLite2 have none.
NESTED: Offers = {
    "accuracy_radius": stated("location.accuracy_radius"),
    "metro_code": stated("location.metro_code"),
    "average_income": stated("location.average_income"),
    "population_density": stated("location.population_density"),
    "geoname_id": stated(
        "city.geoname_id",
        "subdivisions.1.geoname_id",
        "subdivisions.0.geoname_id",
        "country.geoname_id",
        "continent.geoname_id",
    ),
    "city_geoname_id": stated("city.geoname_id"),
    "region_geoname_id": stated("subdivisions.0.geoname_id"),
    "country_geoname_id": stated("country.geoname_id"),
    "country_confidence": stated("country.confidence"),
    "subdivision_confidence": stated("subdivisions.0.confidence"),
    "city_confidence": stated("city.confidence"),
    "postal_confidence": stated("postal.confidence"),
    "subdivision_2_code": stated("subdivisions.1.iso_code"),
    "subdivision_2_name": stated("subdivisions.1.names.en"),
    "registered_country_code": stated("registered_country.iso_code"),
    "represented_country_code": stated("represented_country.iso_code"),
    "represented_country_type": stated("represented_country.type"),
    "city_name_LANG": stated("city.names.LANG"),
    "region_name_LANG": stated("subdivisions.0.names.LANG"),
    "country_name_LANG": stated("country.names.LANG"),
    "domain": stated("traits.domain"),
    "usage_type": stated("traits.user_type"),
    "mcc": stated("traits.mobile_country_code"),
    "mnc": stated("traits.mobile_network_code"),
    "static_ip_score": stated("traits.static_ip_score"),
    "is_anycast": stated("traits.is_anycast"),
    "is_legitimate_proxy": stated("traits.is_legitimate_proxy"),
    "is_anonymous": stated("traits.is_anonymous"),
    "is_vpn": stated("traits.is_anonymous_vpn"),
    "is_hosting": stated("traits.is_hosting_provider"),
    "is_proxy": stated("traits.is_public_proxy"),
    "is_tor": stated("traits.is_tor_exit_node"),
    "is_residential_proxy": stated("traits.is_residential_proxy"),
}
#: The keys of IPinfo, and the names of the own columns themselves.
FLAT: Offers = {
    **{column.name: stated(column.name) for column in COLUMNS if LANGUAGE not in column.name},
    **mmdb_ipinfo.OFFERS["Core"],
    "asn_kind": stated("asn_kind", "as_type"),
    "asn_domain": stated("asn_domain", "as_domain"),
    "accuracy_radius": stated("accuracy_radius", "radius"),
    "metro_code": stated("metro_code", "dma_code"),
}
#: Of ipregistry.
IPREGISTRY: Offers = {
    "asn_domain": stated("connection.domain"),
    "asn_kind": stated("connection.type"),
    "domain": stated("company.domain"),
    "mcc": stated("carrier.mcc"),
    "mnc": stated("carrier.mnc"),
    "is_anonymous": stated("security.is_anonymous"),
    "is_hosting": stated("security.is_cloud_provider"),
    "is_proxy": stated("security.is_proxy"),
    "is_relay": stated("security.is_relay"),
    "is_tor": stated("security.is_tor"),
    "is_vpn": stated("security.is_vpn"),
}
#: Of lists of residential proxies.
RESIDENTIAL_PROXIES: Offers = {
    "is_residential_proxy": ALWAYS,
    "proxy_provider": stated("service"),
    "last_seen_date": stated("last_seen"),
}
