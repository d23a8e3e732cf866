"""iptoasn and ip2region: every layout, what is unknown, quotes that quote nothing."""

from __future__ import annotations

import gzip
from ipaddress import ip_address
from pathlib import Path

from tests.builder.sources.readings import Read, fields, read_at
from tests.builder.sources.recipes import one

V4 = (
    '5.1.0.0\t5.1.3.255\t64500\tCH\tEXAMPLE "One", AG\n'
    "5.1.4.0\t5.1.5.255\t0\tNone\tNot routed\n"
    '5.1.6.0\t5.1.6.255\t64501\tNone\t"UNCLOSED\n'
    "5.1.7.0\t5.1.7.255\t64502\tDE\tNone of your business\n"
)
V6 = "2a02:8::\t2a02:8:ffff:ffff:ffff:ffff:ffff:ffff\t64503\tFR\tEXEMPLE\n"
ONE = {"asn": 64500, "asn_organization": 'EXAMPLE "One", AG'}
UNCLOSED = {"asn": 64501, "asn_organization": '"UNCLOSED'}
OWN = {"asn": 64502, "asn_organization": "None of your business"}
SIX = {"asn": 64503, "asn_organization": "EXEMPLE"}


def as_integers(text: str) -> str:
    rows = [line.split("\t") for line in text.splitlines()]
    ends = [[str(int(ip_address(end))) for end in row[:2]] for row in rows]
    return "".join("\t".join(pair + row[2:]) + "\n" for pair, row in zip(ends, rows, strict=True))


ROUTED = {"5.1.0.0/22": ONE, "5.1.6.0/24": UNCLOSED, "5.1.7.0/24": OWN}
ALONE = {"2a02:8::/32": SIX}


def test_the_files(read: Read) -> None:
    for name, text, expected in (
        ("ip2asn-v4.tsv.gz", V4, ROUTED),
        ("ip2asn-v6.tsv.gz", V6, ALONE),
        ("ip2asn-combined.tsv.gz", V4 + V6, ROUTED | ALONE),
        ("ip2asn-v4-u32.tsv.gz", as_integers(V4), ROUTED),
    ):
        reading = read({name: gzip.compress(text.encode())}, one("iptoasn", name))
        assert reading.ranges() == expected, name
        assert (reading.source.rejected, reading.source.nulled) == ({}, {}), name


def test_several_files_and_what_they_state(read: Read) -> None:
    files = {"ip2asn-v4.tsv": V4, "ip2asn-v6.tsv": V6}
    reading = read(files, one("iptoasn", "ip2asn-v?.tsv"))
    assert reading.ranges() == ROUTED | ALONE
    assert len(reading.report.sources) == 1
    reading = read({"a.tsv": V4}, one("iptoasn", "a.tsv", "countries = true"))
    codes = {"5.1.0.0/22": {"country_code": "CH"}, "5.1.7.0/24": {"country_code": "DE"}}
    assert reading.ranges() == {net: each | codes.get(net, {}) for net, each in ROUTED.items()}
    assert reading.source.nulled == {}
    # Not routed hides a wider row, and says nothing.
    text = "5.1.0.0\t5.1.255.255\t64500\tCH\tWIDE\n" + V4
    reading = read({"a.tsv": text}, one("iptoasn", "a.tsv"))
    assert reading.stated("5.1.4.4", "5.1.99.0") == [{}, {"asn": 64500, "asn_organization": "WIDE"}]


def test_the_real_file(shared_data: Path, tmp_path: Path) -> None:
    content = (shared_data / "iptoasn" / "ip2asn-v4.tsv").read_bytes()
    reading = read_at(tmp_path, {"a.tsv": content}, one("iptoasn", "a.tsv"), max_rejects=0)
    assert (reading.source.read, reading.source.nulled) == (1_427, {})
    for line in content.decode().splitlines():
        first, last, asn, _, name = line.split("\t")
        for stated in reading.stated(first, last):
            assert (stated.get("asn"), stated["asn_organization"]) == (int(asn), name)


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
