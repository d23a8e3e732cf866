"""The products of IPinfo and iplocate: the columns of each, and the fields that they state.

The same for CSV, JSON lines, Parquet and MMDB, in both generations of IPinfo's files: ``country``
is a code in older files, and a name beside ``country_code`` in newer ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from geolookup_builder.sources.formats.vendor_values import known, offers
from geolookup_builder.sources.reading.products import (
    ALWAYS,
    Offer,
    Offers,
    Product,
    flag,
    if_true,
    stated,
)

_COUNTRY: Mapping[str, Offers] = offers(
    "country_code=country_code|country continent_code=continent_code|continent"
)
_PLACE = {
    **_COUNTRY,
    **offers(
        """
        region_code region_name=region_name|region city_name=city postal_code=postal_code|postal
        latitude=latitude|lat longitude=longitude|lng time_zone=timezone geoname_id
        accuracy_radius=radius metro_code=dma_code
        """
    ),
}
#: ``region`` is a code, or a name, beside ``region_name``.
_EXTENDED = {**_PLACE, "region_code": known("region", form="[A-Z0-9]{1,3}")}
_AS = offers("asn asn_organization=as_name")
#: Of products with the AS beside other facts.
_AS_FACTS = offers("asn_domain=as_domain asn_kind=as_type")
_CARRIER = offers("mcc mnc")
_PRIVATE = "consumer_privacy_network"
#: The first true flag decides; it takes precedence over the word that a row states.
_USERS = (
    *(if_true(name, _PRIVATE) for name in ("is_relay", "relay", "is_vpn", "vpn")),
    *(if_true(name, "hosting") for name in ("is_hosting", "hosting")),
    if_true("is_mobile", "cellular"),
)
_LINES = (if_true("is_mobile", "Mobile"), if_true("is_satellite", "Satellite"))
_PROXY_FLAGS = (
    "is_proxy=is_proxy|proxy is_vpn=is_vpn|vpn is_tor=is_tor|tor is_relay=is_relay|relay "
    "is_hosting=is_hosting|hosting"
)
_FLAGS: Mapping[str, Offers] = {
    "user_type": _USERS,
    "connection_type": _LINES,
    **offers(_PROXY_FLAGS),
    **offers(
        """
        is_anonymous=is_anonymous|is_anon is_anycast=is_anycast|anycast is_mobile=is_mobile|mobile
        is_satellite=is_satellite|satellite proxy_provider=service|privacy_name
        """
    ),
}
#: Helpers, and names of what codes state.
_HELPERS = "join_key start_ip end_ip country_name continent_name"
#: The country of a company, an AS or a carrier is where it is registered, not a location.
_HOLDERS = f"{_HELPERS} country country_code continent continent_code"


def _product(
    name: str, marks: str, *values: Mapping[str, Offers], unread: str = _HELPERS
) -> Product:
    return Product(
        name,
        (("network",), ("start_ip", "end_ip"), ("ip",)),
        {column: offer for part in values for column, offer in part.items()},
        tuple(unread.split()),
        (frozenset(marks.split()),),
    )


#: In the order of their tables; of a file that fits several, the first that knows most is used.
IPINFO = (
    _product(
        "Core",  # and Plus, with more columns
        "city asn",
        *(_PLACE, _AS, _AS_FACTS, _CARRIER, _FLAGS),
        {"user_type": (*_USERS, stated("as_type"))},
        offers("isp=carrier_name mobile_brand=carrier_name"),
        # The confidences are words.
        unread=f"{_HELPERS} as_changed geo_changed as_stability geo_stability cdn_name "
        "city_confidence region_confidence country_confidence",
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
        offers(_PROXY_FLAGS, flag),
        offers("last_seen_date=last_seen"),
        unread=f"{_HELPERS} first_seen confidence coverage census census_ports "
        "device_activity inferred vpn_config whois",
    ),
    _product(
        "Company",
        "name as_name",
        *(_AS, _AS_FACTS, offers("organization=name user_type=type domain usage_type=type")),
        unread=_HOLDERS,
    ),
    _product(
        "ASN",
        "asn name domain",
        offers(
            "asn asn_organization=name user_type=type asn_domain=domain asn_kind=type "
            "asn_country_code=country"
        ),
        unread=_HOLDERS,
    ),
    _product(
        "Device Count",
        "asn devices_daily",
        offers("asn"),
        unread=f"{_HELPERS} shared devices_daily devices_weekly devices_monthly",
    ),
    _product("Country ASN", "country continent asn", _COUNTRY, _AS, _AS_FACTS),  # and Lite
    _product("Country", "country continent", _COUNTRY),
    _product(
        "Residential Proxy",
        "service percent_days_seen",
        {"is_residential_proxy": ALWAYS},
        offers("proxy_provider=service last_seen_date=last_seen"),
        unread=f"{_HELPERS} percent_days_seen",
    ),
)
IPLOCATE = (
    Product(
        "Country",
        (("network",),),
        offers("continent_code country_code"),
        unread=("country_name",),
        marks=(frozenset({"continent_code", "country_code"}),),
    ),
    # The country is where the holder is registered. Its full name, else its handle.
    Product(
        "ASN",
        (("network",),),
        offers("asn asn_organization=org,name asn_domain=domain asn_country_code=country_code"),
        marks=(frozenset({"asn", "name", "org"}),),
    ),
)
