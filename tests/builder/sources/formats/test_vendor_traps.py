"""What vendors' files have that a plain reading gets wrong: a row of a table each.

Each trap is a small source, the known fields at some addresses, and its counted faults.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.builder.sources.formats import (
    test_ip2location,
    test_ip2proxy,
    test_ipinfo,
    test_maxmind,
    test_registries,
    test_sapics,
)
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.readings import OWN, Read, Stated, fields, one, refused
from tests.skips import needs

NET = "8.8.4.0/24"


class Trap(NamedTuple):
    """A source, and what is known at some addresses; fields that are not named are not compared.

    An address of which nothing is known has ``{}``.
    """

    recipe: str
    files: dict[str, str | bytes]
    known: dict[str, Stated]
    nulled: dict[str, int] | None = None
    rejected: dict[str, int] | None = None


def hexadecimal(*rows: str) -> dict[str, str | bytes]:
    head = "network_start_hex,network_last_hex,autonomous_system_number\n"
    return {"IPv4.csv": head + "".join(f"{row}\n" for row in rows)}


def feed(*rows: str) -> dict[str, str | bytes]:
    return {"feed.csv": "".join(f"{row}\n" for row in rows)}


def mapped(columns: str, mapping: str, format_: str = "ipinfo") -> str:
    """A recipe that declares columns and maps them in its source."""
    return f"[columns]\n{columns}\n" + one(format_, "a.csv", f"columns = {mapping}")


OTHER_DELIVERY: dict[str, str | bytes] = {
    **test_maxmind.CITY_FILES,
    "Country-Blocks.csv": test_maxmind.BLOCKS["country"] + "8.8.4.0/22,20,,,0,0,\n",
    "Country-Locations-en.csv": test_maxmind.COUNTRY_EN.replace(",DE,", ",AT,"),
}
ORPHANS = test_maxmind.CITY + "8.8.0.0/16,11,,,0,0,,,,,\n8.8.9.0/24,99,20,,0,0,8001,1,1,,\n"
IPV6_FILE: dict[str, str | bytes] = {"DB26.IPV6.CSV": test_ip2location.ipv6(26)}
WINTERTHUR, NEWARK = test_ip2location.expected(26), fields("country_code=US; city_name=Newark")
WIDE = "5.1.0.0\t5.1.255.255\t64500\tCH\tWIDE\n"
BELOW = '[[source]]\nformat = "csv"\npath = "below.csv"\n'
PRIVACY: dict[str, str | bytes] = {"a.csv": test_ipinfo.PRODUCTS["privacy"][0]}
#: No field of a dataset holds these values.
PROXIES: dict[str, str | bytes] = {
    "a.csv": "ip,service,last_seen,percent_days_seen\n8.8.4.4,Acme,2026-06-21,7\n"
}
PX3 = test_ip2proxy.DATABASES[3]
TRAPS = {
    "MaxMind: columns in another order": Trap(
        one("maxmind", "*.csv"),
        {
            "a.csv": "longitude,geoname_id,latitude,network\n33.1,11,34.7,8.8.4.0/24\n",
            "b.csv": "city_name,locale_code,country_iso_code,geoname_id\nAlpha,en,CY,11\n",
        },
        {"8.8.4.4": fields("country_code=CY; city_name=Alpha; latitude=34.7; longitude=33.1")},
    ),
    "MaxMind: hexadecimal ends": Trap(
        one("maxmind", "IPv4.csv"),
        hexadecimal(
            *("8080400,80804ff,5", "0x1,2,5", "80805ff,8080500,5", ",,5", "f" * 33 + ",1,5"),
            *("g,1,5", "8080600,100000000,5"),
        ),
        {"8.8.4.4": {"asn": 5}},
        rejected={"not an address": 5, "first is after last": 1},
    ),
    "MaxMind: ids of another delivery": Trap(
        one("maxmind", "C*y-*.csv"), OTHER_DELIVERY, {"8.8.6.6": {"country_code": "DE"}}
    ),
    "MaxMind: ids without a place": Trap(
        one("maxmind", "?.csv"),
        {"a.csv": ORPHANS, "b.csv": test_maxmind.EN},
        {"8.8.9.9": {"city_name": None}, "8.8.10.1": {"city_name": "Alpha Town"}},
        nulled={"country_code": 1, "postal_code": 1},
    ),
    "IP2Location: the IPv6 file repeats IPv4": Trap(
        one("ip2location", "DB26.IPV6.CSV"),
        IPV6_FILE,
        {"5.1.4.0": WINTERTHUR, "2a02:8::1": WINTERTHUR, "5.1.8.0": {}, "2a03::": {}},
    ),
    "IP2Proxy: IPv4 in IPv6": Trap(
        one("ip2proxy", "a.csv", "db = 3"),
        {"a.csv": test_ip2proxy.rows([str(0xFFFF08080400), str(0xFFFF080804FF), *PX3])},
        {"8.8.4.255": {"country_code": "CH"}},
    ),
    "iptoasn: not routed hides a wider row": Trap(
        one("iptoasn", "a.tsv"),
        {"a.tsv": WIDE + test_sapics.V4},
        {"5.1.4.4": {}, "5.1.99.0": fields("asn=64500; asn_organization=WIDE")},
    ),
    "iptoasn: countries on demand": Trap(
        one("iptoasn", "a.tsv", "countries = true"),
        {"a.tsv": test_sapics.V4},
        {"5.1.0.1": {"country_code": "CH"}, "5.1.6.1": {"asn": 64501, "country_code": None}},
    ),
    "pfx2as: default routes decide nothing": Trap(
        one("pfx2as", "table") + BELOW,
        {
            "table": "0.0.0.0\t0\t1\n::\t0\t2\n" + test_registries.CAIDA,
            "below.csv": "network,isp,asn\n7.0.0.0/8,x,7\n",
        },
        {
            "1.1.1.1": {},
            "2a00::1": {},
            "7.1.1.1": {"asn": 7, "isp": "x"},
            "8.8.8.8": {"asn": 15169},
        },
        nulled={"asn": 2},
    ),
    **{
        f"geofeed: {empty} hides a wider row": Trap(
            one("geofeed", "feed.csv"),
            feed(empty, "8.8.0.0/16,US,,Newark,"),
            {"8.8.8.8": {}, "8.8.9.8": NEWARK},
            nulled={"country_code": 1, "city_name": 1} if "QQ" in empty else None,
        )
        for empty in ("8.8.8.0/24,,,,", "8.8.8.0/24", "8.8.8.0/24,ZZ,,,", "8.8.8.0/24,QQ,,X,")
    },
    "geofeed: the later of equal rows": Trap(
        one("geofeed", "feed.csv"),
        feed("8.8.8.0/24,US", "8.8.8.0/24,CA"),
        {"8.8.8.8": {"country_code": "CA"}},
    ),
    "a name that looks like a glob": Trap(
        one("csv", "a[1].csv"),
        {"a[1].csv": "network,isp\n8.8.8.0/24,x\n", "a1.csv": "network,isp\n9.9.9.9,y\n"},
        {"8.8.8.8": {"isp": "x"}, "9.9.9.9": {}},
    ),
    "own columns of lists and small numbers": Trap(
        '[columns]\ntags = "texts"\nshare = "real"\n' + one("jsonl", "a.jsonl"),
        {"a.jsonl": '{"network": "8.8.4.0/24", "tags": ["a;b"], "share": 1e-7}\n'},
        {"8.8.4.4": {"own.tags": '["a;b"]', "own.share": 1e-7}},
    ),
    "own columns by an offered name": Trap(
        mapped('flag = "boolean"', '{ flag = "is_hosting" }'),
        PRIVACY,
        {"8.8.4.4": {"own.flag": True, "user_type": "hosting"}},
    ),
    "own columns of a product without a field of ours": Trap(
        OWN + one("ipinfo", "a.csv"),
        PROXIES,
        {
            "8.8.4.4": fields(
                "is_residential_proxy=true; proxy_provider=Acme; last_seen_date=2026-06-21"
            )
        },
    ),
    "own columns by a name of a file that no reader knows": Trap(
        '[columns]\ndevices_monthly = "integer"\n' + one("ipinfo", "a.csv"),
        {"a.csv": test_ipinfo.PRODUCTS["device count"][0]},
        {"8.8.4.4": {"asn": 64500, "own.devices_monthly": 100}},
    ),
    "own columns by the column of a file": Trap(
        mapped('mine = "text"', '{ mine = "hosting" }'), PRIVACY, {"8.8.4.4": {"own.mine": "true"}}
    ),
    "own columns of a product without a field": Trap(
        mapped('mine = "text"', '{ mine = "domain" }', "maxmind"),
        {"a.csv": "network,domain\n8.8.4.0/24,a.example\n"},
        {"8.8.4.4": {"own.mine": "a.example"}},
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap(read: Read, name: str) -> None:
    trap = TRAPS[name]
    reading = read(trap.files, trap.recipe)
    for address, known in trap.known.items():
        stated = reading.at(address)
        assert ({field: stated.get(field) for field in known} if known else stated) == known
    assert (reading.source.nulled, reading.source.rejected) == (
        trap.nulled or {},
        trap.rejected or {},
    )


Network = IPv4Network | IPv6Network
V4, V6 = ip_network("5.1.4.0/22"), ip_network("2a02:8::/32")
EDITIONS = ["range", "cidr", "hex", "range appended", "cidr appended", "hex appended"]


def edition(name: str, network: Network) -> list[str]:
    """A range as IP2Location's converter writes it, in place of two integers or behind them."""
    form, _, appended = name.partition(" ")
    first, last = int(network[0]), int(network[-1])
    digits = 8 if network.version == 4 else 32
    written = {
        "range": [str(network[0]), str(network[-1])],
        "cidr": [str(network)],
        "hex": [f"{first:0{digits}X}", f"{last:0{digits}X}"],
    }
    return [str(first), str(last), *written[form]] if appended else written[form]


@pytest.mark.parametrize("name", EDITIONS)
def test_editions_of_ip2location(read: Read, name: str) -> None:
    """The CIDR edition leaves the network unquoted. IP2Proxy has the same editions."""
    for network in (V4, V6):
        for format_, database, cells, known in (
            ("ip2location", 26, test_ip2location.place_cells(26), WINTERTHUR),
            ("ip2location", 1, test_ip2location.place_cells(1), {"country_code": "CH"}),
            ("ip2proxy", 3, PX3, {"country_code": "CH", "city_name": "Winterthur"}),
        ):
            text = test_ip2location.quoted([*edition(name, network), *cells])
            if name == "cidr":
                text = text.replace(f'"{network}"', str(network))
            reading = read({"a.csv": text}, one(format_, "a.csv", f"db = {database}"))
            assert reading.source.rejected == {}, database
            [(stated_network, stated)] = reading.ranges().items()
            assert stated_network == str(network), database
            assert stated.items() >= known.items(), database


CONTACT: dict[str, Any] = {"name": "Registry", "email": "abuse@registry.example", "country": "US"}
CONTACT |= {"address": "US, VA, Centreville, P.O. Box 1", "phone": "+1-555-0100"}
VENUE = {"city": "Taphan Hin", "country_code": "TH", "latitude": "16.2", "longitude": "100.4"}
HOLDER = {"name": "Acme", "country": "PL", "asn": "AS1", "as_name": "Acme"}
#: Database type, a record, words of the error: MMDB files whose places are not those of addresses.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("ipinfo standard_abuse_mmdb_v4.mmdb", {"country": "US"}, "IPinfo Abuse Contact ("),
    ("Test", CONTACT, "contacts (database type 'Test', keys email)"),
    ("Test", {"country": "US", "emails": ("a@b",)}, "keys emails.0)"),
    ("Test", {"abuse": {"email": "a@b", "country": "US"}}, "abuse.email"),
    ("Test", {"id": "N-1", "name": "Acme", "country": "MX", "updated": "2021"}, "WHOIS records ("),
    ("ipinfo rir_whois.mmdb", HOLDER, "IPinfo WHOIS ("),
    ("ipinfo poi_all_extended_sample.mmdb", VENUE, "IPinfo Places ("),
    ("Test", {"ssid": "Guest", **VENUE}, "points of interest ("),
    ("Test", {"hostname": "a.example"}, "none of its fields are known (hostname)"),
]


@needs("maxminddb")
def test_records_that_locate_no_address_are_refused_by_name(tmp_path: Path, read: Read) -> None:
    for kind, record, words in REFUSED:
        for format_ in ("mmdb", "auto"):
            content = mmdb({NET: record}, kind=kind)
            error = refused(tmp_path, "a.mmdb", content, one(format_, "a.mmdb"))
            assert words in error.problem, record
            assert "columns = {" in (error.remedy or ""), record
    # Unless the recipe names their keys.
    recipe = one("mmdb", "a.mmdb", 'columns = { organization = "name" }')
    reading = read({"a.mmdb": mmdb({NET: CONTACT})}, recipe)
    assert reading.ranges() == {NET: {"organization": "Registry"}}
    assert sorted(reading.source.unread) == ["address", "country", "email", "phone"]
