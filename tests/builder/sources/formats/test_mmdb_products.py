"""The products of MMDB files: recognised, read as their CSV is, reported, or refused by name.

Strategy: what a file states is compared with what the CSV of the same records states.
"""

from __future__ import annotations

import csv
import io
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.builder.sources.formats.mmdb_writing import assembled, encoded, mmdb
from tests.builder.sources.formats.test_ipinfo import PRODUCTS as IPINFO
from tests.builder.sources.readings import OWN, Read, Stated, one, refused
from tests.skips import needs

pytestmark = needs("maxminddb")

RANGE = ("network", "start_ip", "end_ip", "join_key", "ip")
NETWORK = "8.8.4.0/24"


def stated(read: Read, format_: str, name: str, content: bytes | str) -> dict[str, Stated]:
    """What a file states, with own columns."""
    return read({name: content}, OWN + one(format_, name)).ranges()


def test_a_product_of_ipinfo_is_what_its_csv_is(read: Read) -> None:
    for product, (text, known) in IPINFO.items():
        [row] = csv.DictReader(io.StringIO(text))
        record = {key: row[key] for key in row if key not in RANGE}
        for kind in ("ipinfo standard_x_mmdb_v4.mmdb", "Test"):
            content = mmdb({NETWORK: record}, kind=kind)
            assert stated(read, "mmdb", "a.mmdb", content) == {NETWORK: known}, (product, kind)


def test_an_mmdb_of_its_vendor_is_what_its_csv_is(read: Read) -> None:
    # The vendor writes MaxMind's structure and database type, with the cells of its CSV.
    lines = (
        '"134743040","134743295","TH","Thailand","Sakon Nakhon","Kut Bak","17.08","103.81","47180"'
        ',"+07:00"\n"134743296","134743551","-","-","-","-","0.000000","0.000000","-","-"\n'
    )
    nested = [
        {
            "country": {"iso_code": code, "names": {"en": "Thailand"}},
            "subdivisions": ({"names": {"en": region}},),
            "city": {"names": {"en": city}},
            "location": {"latitude": latitude, "longitude": longitude, "time_zone": zone},
            "postal": {"code": postal},
        }
        for code, region, city, latitude, longitude, postal, zone in (
            ("TH", "Sakon Nakhon", "Kut Bak", 17.08, 103.81, "47180", "+07:00"),
            ("-", "-", "-", 0.0, 0.0, "-", "-"),
        )
    ]
    content = mmdb({"8.8.4.0/24": nested[0], "8.8.5.0/24": nested[1]}, kind="GeoLite2-City")
    name = "IP2LOCATION-LITE-DB11.CSV"
    from_csv = stated(read, "ip2location", name, lines)
    assert stated(read, "mmdb", "a.mmdb", content) == from_csv != {}
    # Converters name keys as columns; the usage type counts where the proxy type has no word.
    names = "country_code,country_name,region,city,isp,domain,usage_type,asn,as"
    values = "CH,Switzerland,Zurich,-,Example Net AG,example.com,ISP/MOB,64500,Example AS"
    cells = dict(zip(names.split(","), values.split(","), strict=True))
    records, text = {}, ""
    # By the first type the database is known.
    for at, type_ in enumerate(("VPN", "DCH", "RES", "-", "XYZ"), 4):
        network = IPv4Network(f"8.8.{at}.0/24")
        ends = (int(network[0]), int(network[-1]))
        text += ",".join(f'"{cell}"' for cell in (*ends, type_, *cells.values())) + "\n"
        records[str(network)] = {"proxy_type": type_, **cells}
    from_csv = stated(read, "ip2proxy", "IP2PROXY-LITE-PX7.CSV", text)
    assert stated(read, "mmdb", "a.mmdb", mmdb(records)) == from_csv != {}


def test_the_report_says_the_product_and_what_is_not_read(read: Read) -> None:
    record = {
        "country": {"iso_code": "NO", "geoname_id": 1, "names": {"en": "Norway", "de": "Norwegen"}},
        "registered_country": {"iso_code": "SE", "geoname_id": 2},
        "city": {"names": {"en": "Oslo", "de": "Oslo"}},
        "represented_country": {"iso_code": "US", "type": "military"},
        "subdivisions": ({"iso_code": "03"}, {"iso_code": "x", "geoname_id": 3}),
    }
    content = mmdb({NETWORK: record}, kind="GeoIP2-City")
    reading = read({"a.mmdb": content, "b.mmdb": content}, one("mmdb", "*.mmdb"))
    [source] = reading.report.sources
    assert source.note == "read as MaxMind's structure (database type 'GeoIP2-City')"
    assert source.unread == (
        *("city.names.*", "country.geoname_id", "country.names.*"),
        *("registered_country.geoname_id", "represented_country.iso_code"),
        *("represented_country.type", "subdivisions.1.geoname_id", "subdivisions.1.iso_code"),
    )


@pytest.mark.parametrize("key", ["name", "carrier"])
@pytest.mark.parametrize("kind", ["ipinfo standard_carrier.mmdb", "ipinfo ip_carrier_sample.mmdb"])
def test_the_country_of_a_carrier_is_not_read(read: Read, key: str, kind: str) -> None:
    """As of IPinfo's CSV; with and without the codes of the network."""
    for more in ({"mcc": "505", "mnc": "02"}, {}):
        content = mmdb({NETWORK: {key: "Acme", "country": "AU", **more}}, kind=kind)
        reading = read({"a.mmdb": content}, one("auto", "a.mmdb"))
        assert reading.stated("8.8.4.4") == [
            {"isp": "Acme", "connection_type": "Mobile", "user_type": "cellular"}
        ]
        assert "country" in reading.source.unread


# Hostile files


def test_metadata_and_keys_of_any_kind_are_one_short_line(read: Read) -> None:
    kinds = ("a\nb\x1b[31m", "x" * 60_000, ["GeoIP2-City"], {"en": 1}, 7)
    many = {f"k{at:05}": "x" for at in range(12_000)}
    dots = {"a.b": {"": "x"}, "": "y", "\n\x9b": "z", "7": ({"8": "x"},)}
    unread: tuple[str, ...]
    for kind in kinds:
        for more in ({}, {"long" * 200: "x", **many}, dots):
            record = {"country_code": "NO", **more}
            content = mmdb({NETWORK: record}, kind=kind, description={"en": kind, "de": 1})
            try:
                source = read({"a.mmdb": content}, one("mmdb", "a.mmdb")).source
                shown, unread = source.note, source.unread
            except BuildError as error:  # metadata of a type that the library refuses
                shown, unread = str(error), ()
            assert "".join((shown, *unread)).isprintable()
            assert len(shown) < 1000
            assert len(unread) <= 100
            assert max(map(len, unread), default=0) < 70


def test_pointers_in_a_circle_and_deep_records_end(tmp_path: Path) -> None:
    loop = mmdb({NETWORK: {"country_code": "NO"}}).replace(encoded("NO"), b"\x20\x00\x00")
    deep = assembled([(1 + 16, 1)], (b"\xe1" + encoded("a")) * 5000 + encoded("NO"), version=4)
    for content in (loop, deep):
        error = refused(tmp_path, "a.mmdb", content, one("mmdb", "a.mmdb"))
        assert "damaged" in error.problem
