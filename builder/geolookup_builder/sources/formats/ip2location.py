"""The CSV files of IP2Location (DB1 to DB26, ASN) and of IP2Proxy (PX1 to PX12), all editions.

The IPv4 space that an IPv6 file repeats as IPv4-mapped addresses is folded by the compiler. The
time zone column is an offset that includes summer time; it identifies no zone and is not read. The
type of a proxy gives the user type if the contract has a word for it; else the usage type does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from geolookup_builder.sources.formats.headerless import HEXADECIMAL, Catalogue
from geolookup_builder.sources.formats.vendor_values import known, located, offers
from geolookup_builder.sources.reading import sniffing
from geolookup_builder.sources.reading.dictionary_columns import without_rows
from geolookup_builder.sources.reading.plans import COMMAS
from geolookup_builder.sources.reading.products import Product, words

_MISSING = "-"
#: The columns in the order of all files; those of a group, a letter, occur together.
_COLUMNS = (
    "C.country_code C.country_name R.region R.city L.latitude L.longitude Z.zip T.time_zone I.isp "
    "D.domain N.net_speed A.idd_code A.area_code W.weather_station_code W.weather_station_name "
    "M.mcc M.mnc M.mobile_brand E.elevation U.usage_type B.address_type B.category S.district "
    "S.asn S.as"
)
#: The groups of DB26, DB25, …
_DATABASES = (
    "CRLZTIDNAWMEUBS CRLZTIDNAWMEUB CRLZTIDNAWMEU CRLIDMU CRLZTIDNAWME CRLZTAE CRLZTIDNAWM CRLIDM "
    "CRLZTIDNAW CRLTNW CRLZTIDNA CRLZTA CRLZTIDN CRLTN CRLZTID CRLZT CRLZID CRLZ CRLID CRID CRLI "
    "CRL CRI CR CI C"
)
#: The columns that each of PX1, PX2, … adds at the end of the one before. From PX2 the type of the
#: proxy is the first column. PX10 has more rows than PX9.
_PROXY_COLUMNS = (
    *("country_code country_name", "", " region city", " isp", " domain", " usage_type"),
    *(" asn as", " last_seen", " threat", "", " provider", " fraud_score"),
)
_CONTENT = {
    "country_code": sniffing.ALPHA2,
    **dict.fromkeys(("latitude", "longitude"), sniffing.DEGREES),
    # Postal codes contain digits; names of providers contain words.
    "zip": re.compile(r"(?=.*[0-9]).{2,12}"),
    "isp": re.compile(r".*[^\W\d_]{3}.*", re.DOTALL),
    "domain": re.compile(r"\S[^\s.]*\.\S+"),
    "time_zone": re.compile(r"[+-][0-9]{2}:[0-9]{2}"),
    "net_speed": re.compile(r"[A-Z0-9]{2,4}(/[A-Z0-9]{2,4})*"),
    **dict.fromkeys(("idd_code", "area_code"), re.compile(r"[0-9][0-9/ -]*")),
    "weather_station_code": re.compile(r"[A-Z]{4}[0-9]{4}"),
    "mcc": re.compile(r"[0-9]{3}(/[0-9]{3})*"),
    "mnc": re.compile(r"[0-9]{1,3}(/[0-9]{1,3})*"),
    "elevation": re.compile(r"-?[0-9]+"),
    "usage_type": re.compile(r"[A-Z]{3}(/[A-Z]{3})*"),
    "address_type": re.compile(r"[A-Z]"),
    "asn": sniffing.AS_NUMBER,
    "proxy_type": re.compile(r"[A-Z]{3}"),
    "last_seen": re.compile(r"[0-9]{1,5}"),
    "threat": re.compile(r"[A-Z]+(/[A-Z]+)*"),
    "fraud_score": re.compile(r"[0-9]{1,3}"),
}
_PAIR, _APPENDED = ("ip_from", "ip_to"), ("appended_from", "appended_to")
_INTEGERS, _NETWORK = dict.fromkeys(_PAIR, sniffing.INTEGER), {"cidr": sniffing.NETWORK}
#: Integers before hexadecimals: an integer of eight digits matches both.
_EDITIONS = (
    _INTEGERS,
    dict.fromkeys(_PAIR, sniffing.ADDRESS),
    dict.fromkeys(_PAIR, HEXADECIMAL),
    _NETWORK,
    {**_INTEGERS, **_NETWORK},
    {**_INTEGERS, **dict.fromkeys(_APPENDED, sniffing.ADDRESS)},
    {**_INTEGERS, **dict.fromkeys(_APPENDED, HEXADECIMAL)},
)
_UNREAD = ("country_name", "cidr", *_APPENDED)
#: The user type of each type of proxy; None if the contract has no word, and the usage type
#: decides. A residential proxy is at the address of a subscriber.
_USER_TYPES = {
    **dict.fromkeys(("VPN", "TOR", "CPN"), "consumer_privacy_network"),
    "DCH": "hosting",
    "SES": "search_engine_spider",
    "EPN": "business",
    **dict.fromkeys(("RES", "PUB", "WEB", "AIC", _MISSING)),
}


def _flags(*true: str) -> dict[str, str | None]:
    """Return the values of a flag by the type of the proxy: true for some types."""
    return {name: "true" if name in true else "false" for name in _USER_TYPES} | {_MISSING: None}


PROXIES = Product(
    "IP2Proxy",
    (),
    {
        # Some names are as converters to MMDB write them.
        **offers(
            """
            country_code region_name=region,region_name city_name=city,city_name isp asn
            asn_organization=as proxy_type threat fraud_score domain usage_type
            proxy_provider=provider last_seen_days=last_seen
            """,
            known,
        ),
        "user_type": (words("proxy_type", _USER_TYPES), known("usage_type")),
        # The vendor states one type per row; a hosting provider or search engine is not a proxy.
        "is_proxy": words("proxy_type", _flags(*_USER_TYPES.keys() - {"DCH", "SES", "AIC"})),
        "is_vpn": words("proxy_type", _flags("VPN")),
        "is_tor": words("proxy_type", _flags("TOR")),
        "is_relay": words("proxy_type", _flags("CPN")),
        "is_residential_proxy": words("proxy_type", _flags("RES")),
        "is_hosting": words("proxy_type", {**dict.fromkeys(_USER_TYPES), "DCH": "true"}),
    },
    unread=_UNREAD,
    finish=located,
)
#: A count of the build report: in rows without a location it is no value, as 0,0 is no position.
_NO_ELEVATION = "elevation 0 without a country"


def _without_elevation(emptied: list[Mapping[str, int]], rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows without the elevations that the vendor writes in rows without a place."""
    at = rows.schema.get_field_index("elevation")
    if at < 0:
        return rows
    country, cells = (rows.column(name).cast(pa.string()) for name in ("country_code", "elevation"))
    is_none = pc.is_in(country, pa.array([_MISSING, None]))
    bad = pc.and_(is_none, pc.equal(cells, "0")).fill_null(False)
    emptied.append({_NO_ELEVATION: bad.true_count})
    return rows.set_column(at, "elevation", without_rows(rows.column(at), bad))


#: A database in a file name: "IP2LOCATION-LITE-DB11.CSV" has DB11, "MYDB11" none.
_NUMBERED = r"(?<![A-Z0-9])({})0?([1-9][0-9]?)(?![0-9])"
_LOCATIONS = Catalogue(
    Product(
        "IP2Location",
        (),
        offers(
            """
            country_code region_name=region city_name=city latitude longitude postal_code=zip isp
            connection_type=net_speed weather_code=weather_station_code user_type=usage_type asn
            asn_organization=as domain mcc mnc mobile_brand usage_type address_type category
            district area_code weather_station_name elevation
            """,
            known,
        ),
        unread=(*_UNREAD, "time_zone", "idd_code"),
        helpers=("country_code",),
        finish=located,
    ),
    {
        **{
            f"DB{26 - at}": " ".join(name[2:] for name in _COLUMNS.split() if name[0] in groups)
            for at, groups in enumerate(_DATABASES.split())
        },
        "ASN": "asn as",
    },
    _EDITIONS,
    _CONTENT,
    'write db in the recipe, a number from 1 to 26, or "ASN"',
    named=re.compile(
        rf"IP2LOCATION.*[^A-Z0-9](ASN)(?![A-Z0-9])|{_NUMBERED.format('DB')}", re.IGNORECASE
    ),
    # Other vendors have codes beside codes; these files have countries in words. The last cell of
    # a geofeed is a postal code.
    detected={
        "country_name": re.compile(r"(?![A-Za-z]{2}-).{4,}"),
        "city": re.compile(r"[^0-9]+"),
    },
    missing=(_MISSING,),
    option="db",
    prepare=_without_elevation,
)
_PROXIES = Catalogue(
    PROXIES,
    {
        f"PX{number}": ("proxy_type " if number > 1 else "") + "".join(_PROXY_COLUMNS[:number])
        for number in range(len(_PROXY_COLUMNS), 0, -1)
    },
    _EDITIONS,
    _CONTENT,
    "write db in the recipe, a number from 1 to 12",
    named=re.compile(_NUMBERED.format("PX"), re.IGNORECASE),
    detected={"proxy_type": re.compile("|".join(_USER_TYPES.keys() - {_MISSING}))},
    missing=(_MISSING,),
    option="db",
    hidden=frozenset({"PX1"}),  # it has no column of its own
)
_PREFIX = rf'"?(?:{sniffing.ADDRESS.pattern})(?:/[0-9]+)?"?'
#: A row of a geofeed: ``5.0.0.0/22,DE,Bayern,Berlin,`` is not a DB3 with Bayern as the country.
#: IP2Location quotes the cells behind a prefix and leaves none empty: a missing value is "-".
#: A DB5 has a seventh cell, and coordinates.
_FEED_ROW = re.compile(
    rf"""(?!{_PREFIX}(?:,"[^"]+")+$)"""
    rf"""{_PREFIX},(?:"[A-Za-z]{{0,2}}"|[A-Za-z]{{0,2}})(?:,(?:"[^"]*"|[^",]*)){{0,4}}"""
)


def _detect(opening: sniffing.Opening) -> sniffing.Detection | None:
    """Return the detection of a database; rows of a geofeed are one only by the file's name."""
    detection = _LOCATIONS.detect(opening)
    if detection is None or detection.has_own_name:
        return detection
    lines = sniffing.first_lines(opening.start, COMMAS)
    of_feed = sum(_FEED_ROW.fullmatch(line) is not None for line in lines)
    return None if 2 * of_feed > len(lines) else detection


FORMAT = replace(_LOCATIONS.source_format("ip2location"), detect=_detect)
PROXY_FORMAT = _PROXIES.source_format("ip2proxy")
