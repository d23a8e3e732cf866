"""Tables of sapics, iptoasn and ip2region: layouts, integers, column orders, what is unknown."""

from __future__ import annotations

import gzip
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.builder.sources.readings import OWN, Read, check_offers, fields, one, refused

COUNTRY = "5.1.0.0,5.1.3.255,CH\n5.1.4.0,5.1.5.255,\n"
COUNTRY6 = "2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,CH\n"
ASN = '5.1.0.0,5.1.3.255,64500,"Example, AG"\n5.1.4.0,5.1.5.255,64501,Two\n'
DATA = (
    "5.1.0.0,5.1.3.255,CH,Zurich,District,Here,8064,47.3667,8.5500,Europe/Zurich\n"
    "5.1.4.0,5.1.4.255,US,,,,02184,,,\n"
    "5.1.5.0,5.1.5.255,,,,,,0,0,\n"
)
README = (
    "5.1.0.0,5.1.3.255,CH,Here,Zurich,District,47.3667,8.5500,8064,Europe/Zurich\n"
    "5.1.4.0,5.1.4.255,US,,,,,,02184,\n"
    "5.1.5.0,5.1.5.255,,,,,0,0,,\n"
)
HERE = fields(
    "country_code=CH; region_name=Zurich; city_name=Here; postal_code=8064; latitude=47.3667;"
    "longitude=8.55; time_zone=Europe/Zurich"
)


def as_integers(text: str, mark: str = ",") -> str:
    rows = [line.split(mark, 2) for line in text.splitlines()]
    numbers = [[*(str(int(ip_address(end))) for end in row[:2]), row[2]] for row in rows]
    return "".join(mark.join(row) + "\n" for row in numbers)


both = pytest.mark.parametrize("form", [str, as_integers])


@both
def test_countries_and_asns(read: Read, form: type[str]) -> None:
    for name in ("asn-country-ipv4.csv", "what.csv"):
        reading = read({name: form(COUNTRY)}, one("sapics", name))
        assert reading.ranges() == {"5.1.0.0/22": {"country_code": "CH"}}
        assert (reading.source.rejected, reading.source.nulled) == ({}, {})
    reading = read({"a.csv": form(ASN)}, one("sapics", "a.csv"))
    assert reading.ranges() == {
        "5.1.0.0/22": fields("asn=64500; asn_organization=Example, AG"),
        "5.1.4.0/23": fields("asn=64501; asn_organization=Two"),
    }


@both
def test_ipv6(read: Read, form: type[str]) -> None:
    """As integers they need 128 bits, and a small one is no IPv4 address."""
    small = form("::5.1.0.0,::5.1.3.255,DE\n")
    reading = read({"a.csv": form(COUNTRY6) * 2 + small}, one("sapics", "a.csv"))
    result = reading.ranges()
    assert result.pop("2a02:8::/32") == {"country_code": "CH"}
    assert all(":" in network for network in result)


@both
@pytest.mark.parametrize("text", [DATA, README])
def test_cities(read: Read, text: str, form: type[str]) -> None:
    name = "geolite2-city-ipv4.csv.gz"
    reading = read({name: gzip.compress(form(text).encode())}, OWN + one("sapics", name))
    there = {"country_code": "US", "postal_code": "02184"}
    known = {"5.1.0.0/22": HERE | fields("subdivision_2_name=District"), "5.1.4.0/24": there}
    assert (reading.ranges(), reading.source.nulled) == (known, {})
    check_offers("sapics", [known])


def test_the_order_of_a_city_file_must_show(tmp_path: Path) -> None:
    text = "5.1.4.0,5.1.4.255,US,,,,,,,\n"
    error = refused(tmp_path, "a.csv", text, one("sapics", "a.csv"))
    assert "the order of its columns" in error.problem
    assert "header = false" in (error.remedy or "")


V4 = (
    '5.1.0.0\t5.1.3.255\t64500\tCH\tEXAMPLE "One", AG\n'
    "5.1.4.0\t5.1.5.255\t0\tNone\tNot routed\n"
    '5.1.6.0\t5.1.6.255\t64501\tNone\t"UNCLOSED\n'
    "5.1.7.0\t5.1.7.255\t64502\tDE\tNone of your business\n"
)
V6 = "2a02:8::\t2a02:8:ffff:ffff:ffff:ffff:ffff:ffff\t64503\tFR\tEXEMPLE\n"
ONE = {"asn": 64500, "asn_organization": 'EXAMPLE "One", AG'}
UNCLOSED = {"asn": 64501, "asn_organization": '"UNCLOSED'}
NAMED = {"asn": 64502, "asn_organization": "None of your business"}
SIX = {"asn": 64503, "asn_organization": "EXEMPLE"}


ROUTED = {"5.1.0.0/22": ONE, "5.1.6.0/24": UNCLOSED, "5.1.7.0/24": NAMED}
ALONE = {"2a02:8::/32": SIX}


def test_the_files(read: Read) -> None:
    for name, text, expected in (
        ("ip2asn-v4.tsv.gz", V4, ROUTED),
        ("ip2asn-v6.tsv.gz", V6, ALONE),
        ("ip2asn-combined.tsv.gz", V4 + V6, ROUTED | ALONE),
        ("ip2asn-v4-u32.tsv.gz", as_integers(V4, "\t"), ROUTED),
    ):
        reading = read({name: gzip.compress(text.encode())}, one("iptoasn", name))
        assert reading.ranges() == expected, name
        assert (reading.source.rejected, reading.source.nulled) == ({}, {}), name
    reading = read({"a.tsv": V4}, OWN + one("iptoasn", "a.tsv"))
    own = {"5.1.0.0/22": "CH", "5.1.7.0/24": "DE"}
    assert {net: known.get("own.asn_country_code") for net, known in reading.ranges().items()} == {
        net: own.get(net) for net in ROUTED
    }
    check_offers("iptoasn", [reading.ranges()])


REGIONS = (
    "5.0.0.0|5.0.255.255|0|0|0|0|0\n"
    "5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信|CN\n"
    '5.1.4.0|5.1.4.255|Switzerland|Zürich|0|"Example" AG|CH\n'
    "2a02:8::|2a02:8:ffff:ffff:ffff:ffff:ffff:ffff|Germany|0|Berlin|0|DE\n"
)
WITHOUT_CODES = (
    "5.1.0.0|5.1.3.255|中国|0|浙江省|杭州市|电信\n"
    "5.1.4.0|5.1.4.255|瑞士|0|0|0|0\n"
    "5.1.5.0|5.1.5.255|中国|华东|0|0|联通\n"
)


def test_with_and_without_country_codes(read: Read) -> None:
    reading = read({"ipv4_source.txt": REGIONS}, one("ip2region", "ipv4_source.txt"))
    assert reading.ranges() == {
        "5.1.0.0/22": fields("country_code=CN; region_name=浙江省; city_name=杭州市; isp=电信"),
        "5.1.4.0/24": fields('country_code=CH; region_name=Zürich; isp="Example" AG'),
        "2a02:8::/32": fields("country_code=DE; city_name=Berlin"),
    }
    assert (reading.source.nulled, reading.source.rejected) == ({}, {})
    # A provider of two letters here and there is no country.
    text = WITHOUT_CODES + "5.1.6.0|5.1.6.255|0|0|0|0|BT\n"
    reading = read({"ip.merge.txt": text}, one("ip2region", "ip.merge.txt"))
    assert reading.ranges() == {
        "5.1.0.0/22": fields("region_name=浙江省; city_name=杭州市; isp=电信"),
        "5.1.5.0/24": {"isp": "联通"},
        "5.1.6.0/24": {"isp": "BT"},
    }
