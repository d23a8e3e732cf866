"""MaxMind's products: the columns that tell their Blocks files apart, and their own columns.

The MMDB files of the same products have the same keys, unless they are nested.
"""

from __future__ import annotations

from collections.abc import Mapping

from geolookup_builder.sources.reading.own_values import ALWAYS, Offers, flag, stated
from geolookup_builder.sources.reading.vendor_files import Product

#: In the order of their tables; a file with the columns of several is of the first one.
PRODUCTS = (
    Product("Enterprise", frozenset({"geoname_id", "isp_id"})),
    Product("City", frozenset({"geoname_id", "latitude"})),
    Product("Country", frozenset({"geoname_id"})),
    Product("ISP", frozenset({"isp"})),
    Product("ASN", frozenset({"autonomous_system_number"})),
    Product("Connection-Type", frozenset({"connection_type"})),
)
IGNORED = (
    Product("Domain", frozenset({"domain"})),
    Product("IP-Risk", frozenset({"ip_risk"})),
    Product("Anonymous-IP", frozenset({"is_anonymous"})),
    Product("Static-IP-Score", frozenset({"score"})),
    Product("Static-IP-Score", frozenset({"static_ip_score"})),
    Product("User-Count", frozenset({"ipv4_24"})),
    Product("Residential-Proxy", frozenset({"anonymizer_confidence"})),
    Product("DensityIncome", frozenset({"population_density"})),
)
#: A flag about anonymity that is blank is false.
_ANONYMIZERS: Offers = {
    "is_anonymous": flag("is_anonymous"),
    "is_vpn": flag("is_anonymous_vpn"),
    "is_hosting": flag("is_hosting_provider"),
    "is_proxy": flag("is_public_proxy"),
    "is_tor": flag("is_tor_exit_node"),
    "is_residential_proxy": flag("is_residential_proxy"),
    "proxy_provider": stated("provider_name"),
    "anonymizer_confidence": stated("anonymizer_confidence"),
    "last_seen_date": stated("network_last_seen"),
}
#: A blank ``is_anycast`` is unknown: GeoLite2 has only blanks. ``is_satellite_provider`` and
#: ``is_anonymous_proxy`` are not offered: MaxMind no longer maintains them.
_POSITION: Offers = {
    "accuracy_radius": stated("accuracy_radius"),
    "geoname_id": stated("geoname_id"),
    "is_anycast": stated("is_anycast"),
}
MOBILE: Offers = {"mcc": stated("mobile_country_code"), "mnc": stated("mobile_network_code")}
#: The columns of each product beside the fields; more are in the tables of ``maxmind_joins``.
OFFERS: Mapping[str, Offers] = {
    "Enterprise": {
        **_POSITION,
        "is_legitimate_proxy": stated("is_legitimate_proxy"),
        "domain": stated("domain"),
        "country_confidence": stated("country_confidence"),
        "subdivision_confidence": stated("subdivision_confidence"),
        "city_confidence": stated("city_confidence"),
        "postal_confidence": stated("postal_confidence"),
    },
    "City": _POSITION,
    "Country": _POSITION,
    "ISP": MOBILE,
    "Domain": {"domain": stated("domain")},
    "IP-Risk": {**_ANONYMIZERS, "ip_risk": stated("ip_risk")},
    "Anonymous-IP": _ANONYMIZERS,
    "Static-IP-Score": {"static_ip_score": stated("static_ip_score", "score")},
    "Residential-Proxy": {**_ANONYMIZERS, "is_residential_proxy": ALWAYS},
    "DensityIncome": {
        "average_income": stated("average_income"),
        "population_density": stated("population_density"),
    },
}
