"""The products of IPinfo and iplocate: the columns of each, and the fields that they state.

The same for CSV, JSON lines, Parquet and MMDB, in both generations of IPinfo's files: ``country``
is a code in older files, and a name beside ``country_code`` in newer ones.
"""

from __future__ import annotations

from functools import partial

from geolookup_builder.sources.formats.vendor_values import known, product
from geolookup_builder.sources.reading.products import stated

_COUNTRY = "country_code=country_code|country continent_code=continent_code|continent"
_PLACE = f"""
    {_COUNTRY} region_code region_name=region_name|region city_name=city
    postal_code=postal_code|postal latitude=latitude|lat longitude=longitude|lng
    time_zone=timezone geoname_id accuracy_radius=radius metro_code=dma_code
"""
_AS = "asn asn_organization=as_name asn_domain=as_domain asn_kind=as_type"
_CARRIER = "mcc mnc"
_PRIVATE = "consumer_privacy_network"
#: The first true flag decides; it takes precedence over the word that a row states.
_USERS = (
    f"user_type=is_relay?{_PRIVATE},relay?{_PRIVATE},is_vpn?{_PRIVATE},vpn?{_PRIVATE},"
    "is_hosting?hosting,hosting?hosting,is_mobile?cellular"
)
_PROXY_FLAGS = (
    "is_proxy=is_proxy|proxy? is_vpn=is_vpn|vpn? is_tor=is_tor|tor? is_relay=is_relay|relay? "
    "is_hosting=is_hosting|hosting?"
)
#: A flag is blank if it is false only in products of flags.
FLAGS = f"""
    {_USERS} connection_type=is_mobile?Mobile,is_satellite?Satellite
    {_PROXY_FLAGS.replace("?", "")} is_anonymous=is_anonymous|is_anon is_anycast=is_anycast|anycast
    is_mobile=is_mobile|mobile is_satellite=is_satellite|satellite
    proxy_provider=service|privacy_name
"""
#: Helpers, and names of what codes state.
_HELPERS = "join_key start_ip end_ip country_name continent_name"
#: The country of a company, an AS or a carrier is where it is registered, not a location.
_HOLDERS = f"{_HELPERS} country country_code continent continent_code"
#: ``region`` is a code, or a name, beside ``region_name``.
_NAMED, _CODE = "region region_name", known("region", form="[A-Z0-9]{1,3}")
_product = partial(product, ranges=(("network",), ("start_ip", "end_ip"), ("ip",)))

#: In the order of their tables; of a file that fits several, the first that knows most is used.
IPINFO = (
    *(
        _product(
            "Core",  # and Plus, with more columns
            f"city asn {marks}",
            f"{_PLACE} {_AS} {_CARRIER} {FLAGS} {_USERS},as_type isp=carrier_name "
            "mobile_brand=carrier_name",
            {"region_code": codes},
            # The confidences are words.
            unread=f"{_HELPERS} as_changed geo_changed as_stability geo_stability cdn_name "
            "city_confidence region_confidence country_confidence",
        )
        for marks, codes in ((_NAMED, (stated("region_code"), _CODE)), ("", stated("region_code")))
    ),
    _product("Location", f"city {_NAMED}", _PLACE, {"region_code": _CODE}, unread=_HELPERS),
    _product("Location", "city", _PLACE, unread=_HELPERS),
    *(
        _product(
            "Carrier",
            f"{name} mcc",
            f"{_CARRIER} isp={name} mobile_brand={name} is_mobile='true' user_type='cellular' "
            "connection_type='Mobile'",
            unread=_HOLDERS,
        )
        for name in ("name", "carrier")
    ),
    _product(
        "Privacy",
        "vpn hosting",
        f"{FLAGS} {_PROXY_FLAGS} last_seen_date=last_seen",
        unread=f"{_HELPERS} first_seen confidence coverage census census_ports "
        "device_activity inferred vpn_config whois",
    ),
    _product(
        "Company",
        "name as_name",
        f"{_AS} organization=name user_type=type domain usage_type=type",
        unread=_HOLDERS,
    ),
    _product(
        "ASN",
        "asn name domain",
        "asn asn_organization=name user_type=type asn_domain=domain asn_kind=type "
        "asn_country_code=country",
        unread=_HOLDERS,
    ),
    _product(
        "Device Count",
        "asn devices_daily",
        "asn",
        unread=f"{_HELPERS} shared devices_daily devices_weekly devices_monthly",
    ),
    _product("Country ASN", "country continent asn", f"{_COUNTRY} {_AS}", unread=_HELPERS),
    _product("Country", "country continent", _COUNTRY, unread=_HELPERS),
    _product(
        "Residential Proxy",
        "service percent_days_seen",
        "is_residential_proxy='true' proxy_provider=service last_seen_date=last_seen",
        unread=f"{_HELPERS} percent_days_seen",
    ),
)
_table = partial(product, ranges=(("network",),))
IPLOCATE = (
    _table(
        "Country",
        "continent_code country_code",
        "continent_code country_code",
        unread="country_name",
    ),
    # The country is where the holder is registered. Its full name, else its handle.
    _table(
        "ASN",
        "asn name org",
        "asn asn_organization=org,name asn_domain=domain asn_country_code=country_code",
    ),
)
