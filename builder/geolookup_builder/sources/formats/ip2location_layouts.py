"""The layouts of IP2Location's CSV files: the columns of each database and of each edition.

Each database extends another one by some columns.
"""

from __future__ import annotations

import re

from geolookup_builder.sources.formats.headerless import HEXADECIMAL, Edition
from geolookup_builder.sources.reading import sniffing

#: Database: the one it extends, and the columns it adds.
_EXTENDS: dict[int, tuple[int, tuple[str, ...]]] = {
    1: (0, ("country_code", "country_name")),
    2: (1, ("isp",)),
    3: (1, ("region", "city")),
    4: (3, ("isp",)),
    5: (3, ("latitude", "longitude")),
    6: (5, ("isp",)),
    7: (3, ("isp", "domain")),
    8: (5, ("isp", "domain")),
    9: (5, ("zip",)),
    10: (9, ("isp", "domain")),
    11: (9, ("time_zone",)),
    12: (11, ("isp", "domain")),
    13: (5, ("time_zone", "net_speed")),
    14: (12, ("net_speed",)),
    15: (11, ("idd_code", "area_code")),
    16: (14, ("idd_code", "area_code")),
    17: (13, ("weather_station_code", "weather_station_name")),
    18: (16, ("weather_station_code", "weather_station_name")),
    19: (8, ("mcc", "mnc", "mobile_brand")),
    20: (18, ("mcc", "mnc", "mobile_brand")),
    21: (15, ("elevation",)),
    22: (20, ("elevation",)),
    23: (19, ("usage_type",)),
    24: (22, ("usage_type",)),
    25: (24, ("address_type", "category")),
    26: (25, ("district", "asn", "as")),
}


def _columns(number: int) -> tuple[str, ...]:
    if number == 0:
        return ()
    # DB4 extends DB3, and DB3 extends DB1: country, region and city, isp.
    base, columns = _EXTENDS[number]
    return _columns(base) + columns


#: The columns after the range, by ``DB`` and number, and the columns of the ASN file.
DATABASES = {
    **{f"DB{number}": (_columns(number),) for number in sorted(_EXTENDS, reverse=True)},
    "ASN": (("asn", "as"),),
}

CONTENT = {
    "country_code": sniffing.ALPHA2,
    "latitude": sniffing.DEGREES,
    "longitude": sniffing.DEGREES,
    # Postal codes contain digits; names of providers contain words.
    "zip": re.compile(r"(?=.*[0-9]).{2,12}"),
    "isp": re.compile(r".*[^\W\d_]{3}.*", re.DOTALL),
    "domain": re.compile(r"\S[^\s.]*\.\S+"),
    "time_zone": re.compile(r"[+-][0-9]{2}:[0-9]{2}"),
    "net_speed": re.compile(r"[A-Z0-9]{2,4}(/[A-Z0-9]{2,4})*"),
    "idd_code": re.compile(r"[0-9][0-9/ -]*"),
    "area_code": re.compile(r"[0-9][0-9/ -]*"),
    "weather_station_code": re.compile(r"[A-Z]{4}[0-9]{4}"),
    "mcc": re.compile(r"[0-9]{3}(/[0-9]{3})*"),
    "mnc": re.compile(r"[0-9]{1,3}(/[0-9]{1,3})*"),
    "elevation": re.compile(r"-?[0-9]+"),
    "usage_type": re.compile(r"[A-Z]{3}(/[A-Z]{3})*"),
    "address_type": re.compile(r"[A-Z]"),
    "asn": sniffing.AS_NUMBER,
}


_PAIR = ("ip_from", "ip_to")
_INTEGERS = (sniffing.INTEGER, sniffing.INTEGER)
_ADDRESSES = (sniffing.ADDRESS, sniffing.ADDRESS)
_APPENDED = ("appended_from", "appended_to")
#: Integers before hexadecimals: an integer of eight digits matches both.
EDITIONS = (
    Edition(_PAIR, _INTEGERS),
    Edition(_PAIR, _ADDRESSES),
    Edition(_PAIR, (HEXADECIMAL, HEXADECIMAL)),
    Edition(("cidr",), (sniffing.NETWORK,)),
    Edition((*_PAIR, "cidr"), (*_INTEGERS, sniffing.NETWORK)),
    Edition((*_PAIR, *_APPENDED), (*_INTEGERS, *_ADDRESSES)),
    Edition((*_PAIR, *_APPENDED), (*_INTEGERS, HEXADECIMAL, HEXADECIMAL)),
)
