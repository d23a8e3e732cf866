"""iptoasn: the four files, what no AS is, quotes that quote nothing."""

from __future__ import annotations

import gzip
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read, read_at
from tests.builder.sources.recipes import one, refused

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
PROBES = ("5.1.0.0", "5.1.3.255", "5.1.4.0", "5.1.6.9", "5.1.7.0", "2a02:8::9")


def as_integers(text: str) -> str:
    rows = [line.split("\t") for line in text.splitlines()]
    ends = [[str(int(ip_address(end))) for end in row[:2]] for row in rows]
    return "".join("\t".join(pair + row[2:]) + "\n" for pair, row in zip(ends, rows, strict=True))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ip2asn-v4.tsv.gz", V4, [ONE, ONE, {}, UNCLOSED, OWN, {}]),
        ("ip2asn-v6.tsv.gz", V6, [{}, {}, {}, {}, {}, SIX]),
        ("ip2asn-combined.tsv.gz", V4 + V6, [ONE, ONE, {}, UNCLOSED, OWN, SIX]),
        ("ip2asn-v4-u32.tsv.gz", as_integers(V4), [ONE, ONE, {}, UNCLOSED, OWN, {}]),
    ],
)
def test_the_files(read: Read, name: str, text: str, expected: list[dict[str, object]]) -> None:
    reading = read({name: gzip.compress(text.encode())}, one("iptoasn", name))
    assert reading.stated(*PROBES) == expected
    assert reading.source.rejected == {}
    assert reading.source.nulled == {}


def test_several_files_are_one_table(read: Read) -> None:
    files: dict[str, str | bytes] = {"ip2asn-v4.tsv": V4, "ip2asn-v6.tsv": V6}
    reading = read(files, one("iptoasn", "ip2asn-v?.tsv"))
    assert reading.stated(*PROBES) == [ONE, ONE, {}, UNCLOSED, OWN, SIX]
    assert len(reading.report.sources) == 1


def test_countries_only_where_asked_for(read: Read) -> None:
    reading = read({"a.tsv": V4}, one("iptoasn", "a.tsv", "countries = true"))
    assert reading.values("country_code", *PROBES) == ["CH", "CH", None, None, "DE", None]
    assert reading.source.nulled == {}


def test_a_description_alone_is_no_answer(read: Read) -> None:
    """Not routed hides a wider row, and says nothing."""
    text = "5.1.0.0\t5.1.255.255\t64500\tCH\tWIDE\n" + V4
    reading = read({"a.tsv": text}, one("iptoasn", "a.tsv"))
    assert reading.stated("5.1.4.4", "5.1.99.0") == [{}, {"asn": 64500, "asn_organization": "WIDE"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5.1.0.0,5.1.3.255,64500,CH,X\n", "1 columns, but a file of iptoasn has 5"),
        ("5.1.0.0\t5.1.3.255\tCH\t64500\tX\n", "'CH' is no AS_number"),
        ("5.1.0.0\t22\t64500\tSwitzerland\tX\n", "'Switzerland' is no country_code"),
        ("start\tend\t64500\tCH\tX\n", "'start' is no range_start"),
        (f"{'y' * 1000}\tend\t64500\tCH\tX\n", "yyy…' is no range_start"),
    ],
)
def test_other_files(tmp_path: Path, text: str, problem: str) -> None:
    error = refused(tmp_path, "a.tsv", text, one("iptoasn", "a.tsv"))
    assert error.line == 1
    assert problem in str(error)


def test_a_bad_option(tmp_path: Path) -> None:
    text = one("iptoasn", "a.tsv", 'countries = "yes"')
    assert "neither true nor false" in str(fails(tmp_path, {"a.tsv": V4}, text))


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    rows = []
    for line in (V4 + V6).splitlines():
        first, last, asn, country, name = line.split("\t")
        known = {"asn": asn, "asn_organization": name} if asn != "0" else {}
        code = "" if country == "None" else country
        rows.append({"first": first, "last": last, "country_code": code, **known})
    check_rows(tmp_path, {"a.tsv": V4 + V6}, one("iptoasn", "a.tsv", "countries = true"), rows)


def test_the_real_file(shared_data: Path, tmp_path: Path) -> None:
    content = (shared_data / "iptoasn" / "ip2asn-v4.tsv").read_bytes()
    reading = read_at(tmp_path, {"a.tsv": content}, one("iptoasn", "a.tsv"), max_rejects=0)
    assert (reading.source.read, reading.source.nulled) == (1_427, {})
    for line in content.decode().splitlines():
        first, last, asn, _, name = line.split("\t")
        for stated in reading.stated(first, last):
            assert (stated.get("asn"), stated["asn_organization"]) == (int(asn), name)
