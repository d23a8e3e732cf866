"""The collection of sapics: its three kinds of file, text and integers, both column orders."""

from __future__ import annotations

import gzip
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.builder.sources.readings import Read, fields
from tests.builder.sources.recipes import one, refused
from tests.conftest import build_at

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


def as_integers(text: str) -> str:
    rows = [line.split(",", 2) for line in text.splitlines()]
    return "".join(f"{int(ip_address(a))},{int(ip_address(b))},{rest}\n" for a, b, rest in rows)


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
    found = reading.ranges()
    assert found.pop("2a02:8::/32") == {"country_code": "CH"}
    assert all(":" in network for network in found)


@both
@pytest.mark.parametrize("text", [DATA, README])
def test_cities(read: Read, text: str, form: type[str]) -> None:
    name = "geolite2-city-ipv4.csv.gz"
    reading = read({name: gzip.compress(form(text).encode())}, one("sapics", name))
    there = {"country_code": "US", "postal_code": "02184"}
    assert reading.ranges() == {"5.1.0.0/22": HERE, "5.1.4.0/24": there}
    assert reading.source.nulled == {}


def test_the_order_of_a_city_file_must_show(tmp_path: Path, read: Read) -> None:
    text = DATA.splitlines()[1] + "\n"
    error = refused(tmp_path, "a.csv", text, one("sapics", "a.csv"))
    assert "order of the city columns" in error.problem
    order = ["start", "end", "country_code", "-", "-", "city", "postcode", "-", "-", "timezone"]
    reading = read({"a.csv": text}, one("sapics", "a.csv", f"columns = {order}"))
    assert reading.at("5.1.4.0")["postal_code"] == "02184"


def test_a_glob_of_all_kinds(read: Read) -> None:
    files = {"a.csv": ASN, "b.csv": COUNTRY, "c.csv": DATA, "d.csv": COUNTRY6}
    reading = read(files, one("sapics", "*.csv"))
    tables = [(each.name, each.read) for each in reading.report.sources]
    assert tables == [("*.csv (city)", 3), ("*.csv (country)", 3), ("*.csv (asn)", 2)]
    found = reading.at("5.1.0.0")
    assert (found["city_name"], found["asn"]) == ("Here", 64500)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("asn-country-ipv4", 116_201),
        ("asn-country-ipv6-num", 51_776),
        ("iptoasn-country-ipv4-num", 164_246),
        ("iptoasn-country-ipv6", 34_202),
    ],
)
def test_the_real_files(shared_data: Path, tmp_path: Path, name: str, rows: int) -> None:
    """The same tables as from the generic CSV, whose answers are checked elsewhere."""
    content = gzip.decompress((shared_data / "sapics" / f"{name}.csv.gz").read_bytes())
    (tmp_path / "own").mkdir()
    (tmp_path / "generic").mkdir()
    text = one("sapics", "a.csv")
    output, report = build_at(tmp_path / "own", {"a.csv": content}, text, max_rejects=0)
    generic, _ = build_at(tmp_path / "generic", {"a.csv": b"first,last,country_code\n" + content})
    (source,) = report.sources
    assert (source.read, source.rejected.total()) == (rows, 0)
    for table in ("ipv4.arrow", "ipv6.arrow", "location.arrow"):
        assert (output / table).read_bytes() == (generic / table).read_bytes()
