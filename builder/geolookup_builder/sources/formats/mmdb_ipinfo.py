"""IPinfo's products: the keys that tell them apart, and the fields that their keys state.

The same for CSV, JSON lines, Parquet and MMDB.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from geolookup_builder.sources.reading.own_values import (
    ALWAYS,
    NO_OFFERS,
    Offers,
    flag,
    stated,
)
from geolookup_builder.sources.reading.vendor_files import Product

#: In the order of their tables; a file with the keys of several is of the first one.
PRODUCTS = (
    Product("Core", frozenset({"city", "asn"})),  # and Plus, with more columns
    Product("Location", frozenset({"city"})),
    Product("Carrier", frozenset({"name", "mcc"})),
    Product("Carrier", frozenset({"carrier", "mcc"})),
    Product("Privacy", frozenset({"vpn", "hosting"})),
    Product("Company", frozenset({"name", "as_name"})),
    Product("ASN", frozenset({"asn", "name"})),
    Product("Country ASN", frozenset({"country", "continent", "asn"})),  # and Lite
    Product("Country", frozenset({"country", "continent"})),
)
_COUNTRY = {
    "country_code": ("country_code", "country"),
    "continent_code": ("continent_code", "continent"),
}
_PLACE_KEYS = {
    **_COUNTRY,
    "region_code": ("region_code",),
    "region_name": ("region_name", "region"),
    "city_name": ("city",),
    "postal_code": ("postal_code", "postal"),
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lng"),
    "time_zone": ("timezone",),
}
_AS = {"asn": ("asn",), "asn_organization": ("as_name",)}
#: For each product and field, the keys that may state it. The country of a company, an AS
#: or a carrier is where it is registered, not a location, and so is left out.
FIELDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Core": {**_PLACE_KEYS, **_AS, "user_type": ("as_type",), "isp": ("carrier_name",)},
    "Location": _PLACE_KEYS,
    "Carrier": {"isp": ("name", "carrier")},
    "Privacy": {},
    "Company": {**_AS, "organization": ("name",), "user_type": ("type",)},
    "ASN": {"asn": ("asn",), "asn_organization": ("name",), "user_type": ("type",)},
    "Country ASN": {**_COUNTRY, **_AS},
    "Country": _COUNTRY,
}
_FLAG_OFFERS: Offers = {
    "is_anonymous": stated("is_anonymous"),
    "is_proxy": stated("is_proxy", "proxy"),
    "is_vpn": stated("is_vpn", "vpn"),
    "is_tor": stated("is_tor", "tor"),
    "is_relay": stated("is_relay", "relay"),
    "is_hosting": stated("is_hosting", "hosting"),
    "is_anycast": stated("is_anycast", "anycast"),
    "is_mobile": stated("is_mobile", "mobile"),
    "is_satellite": stated("is_satellite", "satellite"),
    "proxy_provider": stated("service"),
}
_PLACE_OFFERS: Offers = {
    "geoname_id": stated("geoname_id"),
    "accuracy_radius": stated("radius"),
    "metro_code": stated("dma_code"),
}
_CARRIER_OFFERS: Offers = {"mcc": stated("mcc"), "mnc": stated("mnc")}
#: Of products with the AS beside other facts.
_AS_OFFERS: Offers = {"asn_domain": stated("as_domain"), "asn_kind": stated("as_type")}
#: For each product, its columns beside the fields. The flags of Privacy are blank if false.
OFFERS: Mapping[str, Offers] = {
    "Core": {
        **_PLACE_OFFERS,
        **_AS_OFFERS,
        **_CARRIER_OFFERS,
        **_FLAG_OFFERS,
        "mobile_brand": stated("carrier_name"),
    },
    "Location": _PLACE_OFFERS,
    "Carrier": {**_CARRIER_OFFERS, "mobile_brand": stated("name", "carrier"), "is_mobile": ALWAYS},
    "Privacy": {
        **_FLAG_OFFERS,
        **{
            name: flag(*_FLAG_OFFERS[name].columns)
            for name in ("is_proxy", "is_vpn", "is_tor", "is_relay", "is_hosting")
        },
    },
    "Company": {**_AS_OFFERS, "domain": stated("domain"), "usage_type": stated("type")},
    "ASN": {
        "asn_domain": stated("domain"),
        "asn_kind": stated("type"),
        "asn_country_code": stated("country"),
    },
    "Country ASN": _AS_OFFERS,
    "Country": NO_OFFERS,
}
#: The value that a true flag states, by field; the first true flag is used.
FLAGS: Mapping[str, Mapping[str, str]] = {
    "user_type": {
        "is_relay": "consumer_privacy_network",
        "relay": "consumer_privacy_network",
        "is_vpn": "consumer_privacy_network",
        "vpn": "consumer_privacy_network",
        "is_hosting": "hosting",
        "hosting": "hosting",
        "is_mobile": "cellular",
    },
    "connection_type": {"is_mobile": "Mobile", "is_satellite": "Satellite"},
}
#: What being in a file of a product states.
CONSTANTS: Mapping[str, Mapping[str, str]] = {
    "Carrier": {"user_type": "cellular", "connection_type": "Mobile"}
}
#: ``region`` beside ``region_name`` is a code if it has this form.
REGION_CODE = re.compile("[A-Z0-9]{1,3}")


def flag_words(word: str) -> dict[str, str | None]:
    """Return the values of the texts of a flag: ``word`` if it is true, else nothing."""
    return {"true": word, "1": word, "false": None, "0": None}
