"""Files of MaxMind and in MMDB, and what their own columns are by network.

Written by hand, from the files of the other tests of the readers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from geolookup_builder.vendor_columns import COLUMNS

from tests.builder.sources.formats import (
    test_ipinfo,
    test_maxmind,
)
from tests.builder.sources.formats.mmdb_writing import mmdb


class Case(NamedTuple):
    """A file of a format, and what its own columns are by network."""

    format: str
    files: dict[str, str | bytes]
    known: dict[str, dict[str, Any]]

    @property
    def path(self) -> str:
        """The file, or a glob of all."""
        return "*.csv" if len(self.files) > 1 else next(iter(self.files))


BLOCKS, NET = test_maxmind.BLOCKS, "8.8.4.0/24"
PLACES = test_maxmind.PLACES
_FALSE = dict.fromkeys(
    (*("is_anonymous", "is_vpn", "is_hosting", "is_proxy", "is_tor", "is_residential_proxy"),),
    False,
)
_ANONYMOUS = (
    "is_anonymous,is_anonymous_vpn,is_hosting_provider,is_public_proxy,is_tor_exit_node,"
    "is_residential_proxy"
)
_LAST = "provider_name,anonymizer_confidence,network_last_seen"
_SEEN = {
    "proxy_provider": "Acme VPN",
    "anonymizer_confidence": 95,
    "last_seen_date": "2026-11-20",
}
MAXMIND = [
    Case(
        "maxmind",
        {
            "a-Blocks.csv": BLOCKS["city"]
            + "8.8.4.0/24,11,20,30,0,0,1234,34.7,33.1,20,1\n"
            + "8.8.5.0/24,,20,,0,0,,,,,\n",
            "en.csv": PLACES
            + "11,en,EU,Europe,CY,Cyprus,02,Limassol,07,North,Alpha,819,Asia/Nicosia,0\n"
            + "20,en,EU,Europe,DE,Germany,,,,,,,,1\n30,en,NA,x,US,x,,,,,,,,0\n",
            "de.csv": PLACES
            + "11,de,EU,Europa,CY,Zypern,02,Limassoll,07,Nord,Alphastadt,819,Asia/Nicosia,0\n"
            + "20,de,EU,Europa,DE,Deutschland,,,,,,,,1\n",
        },
        {
            NET: {
                "accuracy_radius": 20,
                "geoname_id": 11,
                "is_anycast": True,
                "registered_country_code": "DE",
                "represented_country_code": "US",
                "metro_code": 819,
                "subdivision_2_code": "07",
                "subdivision_2_name": "North",
                "city_name_de": "Alphastadt",
                "region_name_de": "Limassoll",
                "country_name_de": "Zypern",
            },
            # As the country: that of the registration.
            "8.8.5.0/24": {"registered_country_code": "DE", "country_name_de": "Deutschland"},
        },
    ),
    Case(
        "maxmind",
        {
            "a-Blocks.csv": BLOCKS["enterprise"]
            + "8.8.4.0/24,11,,,0,0,1234,34.7,33.1,7,1,acme.example,20,99,80,60,40,\n",
            "en.csv": test_maxmind.EN,
            "isp.csv": test_maxmind.PROVIDERS + "7,Acme,,,,,cellular,310,004\n",
        },
        {
            NET: {
                "is_legitimate_proxy": True,
                "domain": "acme.example",
                "accuracy_radius": 20,
                "geoname_id": 11,
                "country_confidence": 99,
                "subdivision_confidence": 80,
                "city_confidence": 60,
                "postal_confidence": 40,
                "mcc": "310",
                "mnc": "004",
                "usage_type": "cellular",
            }
        },
    ),
    Case(
        "maxmind",
        {"GeoIP2-ISP.csv": BLOCKS["isp"] + "8.8.4.0/24,Acme,Acme,64500,x,310,004\n"},
        {NET: {"mcc": "310", "mnc": "004"}},
    ),
    Case(
        "maxmind",
        {"a.csv": "network,domain\n8.8.4.0/24,a.example\n"},
        {NET: {"domain": "a.example"}},
    ),
    Case(
        "maxmind",
        {"a.csv": f"network,{_ANONYMOUS}\n8.8.4.0/24,1,1,,,,\n8.8.5.0/24,1,,1,1,1,1\n"},
        {
            NET: {**_FALSE, "is_anonymous": True, "is_vpn": True},
            "8.8.5.0/24": {**dict.fromkeys(_FALSE, True), "is_vpn": False},
        },
    ),
    Case(
        "maxmind",
        {"a.csv": f"network,{_ANONYMOUS},{_LAST}\n8.8.4.0/24,1,1,,,,,Acme VPN,95,2026-11-20\n"},
        {NET: {**_FALSE, "is_anonymous": True, "is_vpn": True, **_SEEN}},
    ),
    Case(
        "maxmind",
        {"a.csv": f"network,{_LAST}\n8.8.4.0/24,Acme VPN,95,2026-11-20\n"},
        {NET: {"is_residential_proxy": True, **_SEEN}},
    ),
    Case(
        "maxmind",
        {"a.csv": "network,ip_risk,is_anonymous\n8.8.4.0/24,0.05,\n"},
        {NET: {"ip_risk": 0.05, "is_anonymous": False}},
    ),
    *(
        Case(
            "maxmind",
            {"a.csv": f"network,{name}\n8.8.4.0/24,5.5\n"},
            {NET: {"static_ip_score": 5.5}},
        )
        for name in ("score", "static_ip_score")
    ),
    Case(
        "maxmind",
        {"a.csv": "network,average_income,population_density\n8.8.4.0/24,32323,1232\n"},
        {NET: {"average_income": 32323, "population_density": 1232}},
    ),
]


def _proxy(kind: str, *true: str, is_proxy: bool = True) -> dict[str, Any]:
    flags = dict.fromkeys(("is_vpn", "is_tor", "is_relay", "is_residential_proxy"), False)
    hosting = {"is_hosting": True} if kind == "DCH" else {}
    known = {"is_proxy": is_proxy, "proxy_type": kind, **flags, **dict.fromkeys(true, True)}
    return known | hosting


_FLAGS = [
    "is_anonymous",
    "is_anycast",
    "is_hosting",
    "is_mobile",
    "is_satellite",
    "is_relay",
    "is_vpn",
]
_PRIVACY = ("hosting", "proxy", "tor", "relay", "vpn")
_CORE = {
    "accuracy_radius": 5,
    "geoname_id": 123,
    "metro_code": 819,
    "asn_domain": "example.com",
    "asn_kind": "isp",
    "mobile_brand": "Example Mobile",
    "mcc": "505",
    "mnc": "02",
    "proxy_provider": "Acme",
    **dict.fromkeys((*_FLAGS, "is_proxy", "is_tor"), True),
}
IPINFO_FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "core": (
        test_ipinfo.full("network,PLACES,dma_code,geoname_id,radius,FLAGS,is_proxy,is_tor,service")
        + test_ipinfo.full(
            "NET,PLACE,819,123,5,AS64500,INC,example.com,isp,Example Mobile,505,02,"
            + "true," * 9
            + "Acme"
        ),
        _CORE,
    ),
    "privacy, legacy": (
        test_ipinfo.PRODUCTS["privacy, legacy"][0],
        {
            **{f"is_{name}": name in ("hosting", "vpn") for name in _PRIVACY},
            "proxy_provider": "Example VPN",
        },
    ),
    "privacy": (
        test_ipinfo.PRODUCTS["privacy"][0],
        {f"is_{name}": name == "hosting" for name in _PRIVACY},
    ),
    "asn": (
        test_ipinfo.PRODUCTS["asn"][0],
        {"asn_domain": "example.com", "asn_kind": "hosting", "asn_country_code": "US"},
    ),
    "company": (
        test_ipinfo.PRODUCTS["company"][0],
        {
            "domain": "example.ch",
            "usage_type": "government",
            "asn_domain": "example.com",
            "asn_kind": "isp",
        },
    ),
    "carrier": (
        test_ipinfo.PRODUCTS["carrier"][0],
        {"mobile_brand": "Example Mobile", "mcc": "505", "mnc": "02", "is_mobile": True},
    ),
    "Lite": (test_ipinfo.PRODUCTS["Lite"][0], {"asn_domain": "example.com"}),
    "location, extended": (
        test_ipinfo.PRODUCTS["location, extended"][0],
        {"geoname_id": 1, "accuracy_radius": 50},
    ),
}
CITY = {
    "city": {"geoname_id": 1, "confidence": 60, "names": {"en": "Alpha", "de": "Alphastadt"}},
    "continent": {"geoname_id": 4},
    "country": {
        "iso_code": "CY",
        "geoname_id": 3,
        "confidence": 99,
        "names": {"en": "Cyprus", "de": "Zypern"},
    },
    "location": {
        "accuracy_radius": 20,
        "metro_code": 819,
        "average_income": 5,
        "population_density": 6,
    },
    "postal": {"confidence": 40},
    "registered_country": {"iso_code": "DE"},
    "represented_country": {"iso_code": "US", "type": "military"},
    "subdivisions": (
        {"iso_code": "02", "geoname_id": 2, "confidence": 80, "names": {"de": "Limassoll"}},
        {"iso_code": "07", "names": {"en": "North"}},
    ),
    "traits": {
        "domain": "acme.example",
        "user_type": "cellular",
        "mobile_country_code": "310",
        "mobile_network_code": "004",
        "static_ip_score": 5.5,
        "is_anycast": True,
        "is_legitimate_proxy": True,
        "is_anonymous": True,
        "is_anonymous_vpn": True,
        "is_hosting_provider": True,
        "is_public_proxy": True,
        "is_tor_exit_node": True,
        "is_residential_proxy": True,
    },
}
CITY_KNOWN: dict[str, Any] = {
    **_FALSE,
    **dict.fromkeys((*_FALSE, "is_anycast", "is_legitimate_proxy"), True),
    "geoname_id": 1,
    "city_geoname_id": 1,
    "region_geoname_id": 2,
    "country_geoname_id": 3,
    "country_confidence": 99,
    "subdivision_confidence": 80,
    "city_confidence": 60,
    "postal_confidence": 40,
    "subdivision_2_code": "07",
    "subdivision_2_name": "North",
    "registered_country_code": "DE",
    "represented_country_code": "US",
    "represented_country_type": "military",
    "city_name_de": "Alphastadt",
    "region_name_de": "Limassoll",
    "country_name_de": "Zypern",
    "accuracy_radius": 20,
    "metro_code": 819,
    "average_income": 5,
    "population_density": 6,
    "domain": "acme.example",
    "usage_type": "cellular",
    "mcc": "310",
    "mnc": "004",
    "static_ip_score": 5.5,
}
#: A record with a key of each column's own name.
_SAMPLES: dict[str, Any] = {"boolean": True, "integer": 7, "real": 5.5, "text": "x"}
_FLAT = {
    column.name: _SAMPLES[column.type]
    for column in COLUMNS
    if "LANG" not in column.name and column.name != "proxy_type"
}
#: Names of keys that mean other columns: of a carrier, and of IPinfo's service.
_FLAT_KNOWN = {
    name: item for name, item in _FLAT.items() if name not in ("mobile_brand", "proxy_provider")
}
_REGISTRY = {
    "location": {"country": {"code": "CH"}},
    "connection": {"asn": 64500, "organization": "Acme", "domain": "a.example", "type": "isp"},
    "company": {"domain": "b.example"},
    "carrier": {"mcc": "228", "mnc": "01"},
    "security": {"is_vpn": True, "is_cloud_provider": False},
}


def _records() -> dict[str, tuple[str, Any, dict[str, Any]]]:
    """By name: database type, record and known columns, in an MMDB file."""
    px = dict(zip(("proxy_type", "threat", "fraud_score"), ("TOR", "-", "7"), strict=True))
    return {
        "City": ("GeoIP2-City", CITY, CITY_KNOWN),
        "records in its structure": ("x", CITY, CITY_KNOWN),
        "Domain": ("GeoIP2-Domain", {"domain": "a.example"}, {"domain": "a.example"}),
        "ISP": (
            "GeoIP2-ISP",
            {"isp": "x", "organization": "y", "mobile_country_code": "310"},
            {"mcc": "310"},
        ),
        "IP2Proxy": (
            "IP2PROXY",
            {**px, "country_code": "CH"},
            {**_proxy("TOR", "is_tor"), "fraud_score": 7},
        ),
        "flat": ("x", {"country_code": "CH", **_FLAT}, _FLAT_KNOWN),
        "ipregistry": (
            "x",
            _REGISTRY,
            {
                "asn_domain": "a.example",
                "asn_kind": "isp",
                "domain": "b.example",
                "mcc": "228",
                "mnc": "01",
                "is_vpn": True,
                "is_hosting": False,
            },
        ),
        "iplocate": (
            "x",
            {"asn": 64500, "name": "X", "org": "Acme", "domain": "a.example"},
            {"asn_domain": "a.example"},
        ),
        "residential proxies": (
            "x",
            {"service": "Acme", "percent_days_seen": 5, "last_seen": "2026-11-20"},
            {
                "is_residential_proxy": True,
                "proxy_provider": "Acme",
                "last_seen_date": "2026-11-20",
            },
        ),
        **{
            f"IPinfo {name}": ("x", test_ipinfo.records(text)[0], known)
            for name, (text, known) in IPINFO_FILES.items()
            if name.startswith(("privacy", "company", "asn", "carrier"))
        },
    }


MMDB = [
    Case("mmdb", {"a.mmdb": mmdb({NET: record}, kind=kind)}, {NET: known})
    for kind, record, known in _records().values()
]
CASES = [*MAXMIND, *MMDB]
