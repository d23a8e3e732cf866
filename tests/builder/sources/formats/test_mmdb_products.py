"""The products of MMDB files: recognised, read as their CSV is, reported, or refused by name.

Strategy: the reader's batches are compared with those of the CSV reader of the same records; the
files of MaxMind are each read with exactly the listed keys, or refused.
"""

from __future__ import annotations

import csv
import io
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import BuildError
from tests.builder.sources.formats.mmdb_writing import assembled, encoded, mmdb
from tests.builder.sources.formats.test_ipinfo import PRODUCTS as IPINFO
from tests.builder.sources.readings import Read, one
from tests.internals.builder import FORMATS, Batch, SourceSpec
from tests.internals.contract import BY_SOURCE_COLUMN
from tests.skips import needs

pytestmark = needs("maxminddb")

RANGE = ("network", "start_ip", "end_ip", "join_key", "ip")
NETWORK = "8.8.4.0/24"


def batch_of(folder: Path, format_: str, name: str, content: bytes | None = None) -> Batch:
    """The only batch of a file, as its reader gives it to the compiler."""
    if content is not None:
        (folder / name).write_bytes(content)
    spec = SourceSpec(
        format_, name, frozenset(BY_SOURCE_COLUMN), {}, {}, folder / "recipe.toml", folder
    )
    [table] = FORMATS[format_].read(spec)
    [batch] = table.batches
    return batch


def about(folder: Path, name: str, content: bytes) -> str:
    """The product of a file, and the keys that are not read."""
    numbers = batch_of(folder, "mmdb", name, content).numbers
    return f"{numbers.product}: {', '.join(numbers.unread)}"


def rows(batch: Batch) -> list[tuple[str, str, dict[str, str]]]:
    """Range and known fields of each row."""
    columns = {name: item.to_pylist() for name, item in batch.fields.items()}
    first, last = batch.ranges.first, batch.ranges.last
    return [
        (
            str(first.item(row)),
            str(last.item(row)),
            {name: item[row] for name, item in columns.items() if item[row]},
        )
        for row in range(len(batch))
    ]


# Carrier, privacy and other products of IPinfo


def records(text: str) -> list[dict[str, Any]]:
    """The rows of a CSV as MMDB records: all texts, without the range."""
    result = csv.DictReader(io.StringIO(text))
    return [{key: row[key] for key in row if key not in RANGE} for row in result]


def test_a_product_of_ipinfo_is_what_its_csv_is(tmp_path: Path) -> None:
    for product, (text, _) in IPINFO.items():
        from_csv = rows(batch_of(tmp_path, "ipinfo", "a.csv", text.encode()))
        for kind in ("ipinfo standard_x_mmdb_v4.mmdb", "Test"):
            content = mmdb({NETWORK: records(text)[0]}, kind=kind)
            assert rows(batch_of(tmp_path, "mmdb", "a.mmdb", content)) == from_csv, (product, kind)


# Other vendors


def test_an_mmdb_of_its_vendor_is_what_its_csv_is(tmp_path: Path) -> None:
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
    result = batch_of(tmp_path, "mmdb", "a.mmdb", content)
    assert rows(result) == rows(batch_of(tmp_path, "ip2location", name, lines.encode()))
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
    from_csv = batch_of(tmp_path, "ip2proxy", "IP2PROXY-LITE-PX7.CSV", text.encode())
    assert rows(batch_of(tmp_path, "mmdb", "a.mmdb", mmdb(records))) == rows(from_csv)


# Refused

CONTACT = {"name": "Registry", "email": "abuse@registry.example", "country": "US"}
CONTACT |= {"address": "US, VA, Centreville, P.O. Box 1", "phone": "+1-555-0100"}


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


def test_metadata_of_any_type_is_one_line(tmp_path: Path) -> None:
    kinds = ("a\nb\x1b[31m", "x" * 60_000, ["GeoIP2-City"], {"en": 1}, 7)
    for at, kind in enumerate(kinds):
        for record in ({"country_code": "NO"}, CONTACT, {"nothing": "x"}):
            content = mmdb({NETWORK: record}, kind=kind, description={"en": kind, "de": 1})
            try:
                lines = about(tmp_path, f"{at}.mmdb", content)
            except BuildError as error:
                lines = str(error)
            assert "\n" not in lines
            assert "\x1b" not in lines
            assert len(lines) < 1000


def test_keys_without_end_or_with_dots_and_control_characters(tmp_path: Path) -> None:
    many = {f"k{at:05}": "x" for at in range(12_000)}
    content = mmdb({NETWORK: {"country_code": "NO", "long" * 200: "x", **many}})
    unread = batch_of(tmp_path, "mmdb", "a.mmdb", content).numbers.unread
    assert len(unread) == 100
    assert max(map(len, unread)) < 70
    record = {"country_code": "NO", "a.b": {"": "x"}, "": "y", "\n\x9b": "z", "7": ({"8": "x"},)}
    assert about(tmp_path, "a.mmdb", mmdb({NETWORK: record})).isprintable()


def test_pointers_in_a_circle_and_records_that_are_no_maps_end(tmp_path: Path) -> None:
    for name, record in {"text": "NO", "list": ({"country_code": "NO"},)}.items():
        with pytest.raises(BuildError, match="none of its fields are known"):
            batch_of(tmp_path, "mmdb", f"{name}.mmdb", mmdb({NETWORK: record}))
    loop = mmdb({NETWORK: {"country_code": "NO"}}).replace(encoded("NO"), b"\x20\x00\x00")
    deep = assembled([(1 + 16, 1)], (b"\xe1" + encoded("a")) * 5000 + encoded("NO"), version=4)
    for content in (loop, deep):
        with pytest.raises(BuildError, match="damaged"):
            batch_of(tmp_path, "mmdb", "a.mmdb", content)


# Real files and the page
