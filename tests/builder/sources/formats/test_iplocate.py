"""iplocate: both tables, zipped and plain, and files that are something else."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest

from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one

COUNTRY = (
    "network,continent_code,country_code,country_name\n"
    "8.8.4.0/24,NA,US,United States\n"
    '8.8.5.0/24,AF,NA,"Namibia"\n'
    "2600:1::/32,EU,CH,Switzerland\n"
)
ASN = (
    "network,asn,country_code,name,org,domain\n"
    "8.8.4.0/23,64500,AU,EXAMPLE,Example Inc,example.com\n"
    "8.8.6.0/24,64501,AU,HANDLE,,\n"
    "2600:1::/32,64502,AU,OTHER,Other AG,example.ch\n"
)


def zipped(name: str, text: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, text)
    return stream.getvalue()


@pytest.mark.parametrize(
    "files",
    [
        {"ip-to-asn.csv": ASN, "ip-to-country.csv": COUNTRY},
        {
            "ip-to-asn.zip": zipped("ip-to-asn-20261101.csv", ASN),
            "ip-to-country.zip": zipped("ip-to-country-20261101.csv", COUNTRY),
        },
    ],
    ids=["plain", "zipped"],
)
def test_both_tables(read: Read, files: dict[str, str | bytes]) -> None:
    reading = read(files, one("iplocate", "ip-to-*"))
    assert [(each.name, each.read) for each in reading.report.sources] == [
        ("ip-to-* (Country)", 3),
        ("ip-to-* (ASN)", 3),
    ]
    assert reading.stated("8.8.4.4", "8.8.5.5", "8.8.6.6", "2600:1::7") == [
        {
            "continent_code": "NA",
            "country_code": "US",
            "asn": 64500,
            "asn_organization": "Example Inc",
        },
        {
            "continent_code": "AF",
            "country_code": "NA",
            "asn": 64500,
            "asn_organization": "Example Inc",
        },
        {"asn": 64501, "asn_organization": "HANDLE"},
        {
            "continent_code": "EU",
            "country_code": "CH",
            "asn": 64502,
            "asn_organization": "Other AG",
        },
    ]


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    names = ("network", "continent_code", "country_code")
    countries = [
        {name: row[name] for name in names} for row in csv.DictReader(COUNTRY.splitlines())
    ]
    systems = [
        {
            "network": row["network"],
            "asn": row["asn"],
            "asn_organization": row["org"] or row["name"],
        }
        for row in csv.DictReader(ASN.splitlines())
    ]
    files: dict[str, str | bytes] = {"a.csv": ASN, "c.csv": COUNTRY}
    check_rows(tmp_path, files, one("iplocate", "*.csv"), countries, systems)
