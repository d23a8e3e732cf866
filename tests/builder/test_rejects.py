"""The file of rejects: rows without a valid range, rows that lost values, and far rows.

Far rows are counted and warned of, for a file with swapped columns.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.formats.test_generic_typed import as_parquet
from tests.builder.sources.readings import one
from tests.conftest import Build, build_at
from tests.internals.builder import BuildReport
from tests.skips import needs

COUNTRY = "is not a country code of ISO 3166-1"
ROBOT = "user_type 'robot' is not a word of the vocabulary"


def listed(folder: Path, name: str, content: str | bytes, recipe: str) -> list[list[str]]:
    """The rows of the file, without the names of files."""
    path = folder / "rejects.csv"
    build_at(folder, {name: content}, recipe, rejects=path)
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["file", "line", "reason", "text"]
    assert {row[0] for row in rows} <= {str(folder / name)}
    return [row[1:] for row in rows]


def test_file_line_and_value(tmp_path: Path) -> None:
    """In the order of the file; all invalid values of a row are in one reason."""
    text = (
        "network,country_code,time_zone,user_type,asn\n"
        "8.8.1.0/24,CH,Europe/Zurich,hosting,1\n"
        "8.8.2.0/24,XX,,robot,1\n"
        "nowhere,YY,,,\n"
        "8.8.3.0/24,UK,North,,AS1\n"
        "8.8.4.0/24\n"
        "8.8.5.0/24,,,,x\n"
    )
    assert listed(tmp_path, "a.csv", text, one("csv", "a.csv")) == [
        ["3", f"nulled: country_code 'XX' {COUNTRY}; {ROBOT}", "8.8.2.0/24,XX,,robot,1"],
        ["4", "not an address", "nowhere,YY,,,"],
        ["5", "nulled: time_zone 'North' is not a time zone of the IANA database",
         "8.8.3.0/24,UK,North,,AS1"],
        ["6", "wrong number of cells", "8.8.4.0/24"],
        ["7", "nulled: asn 'x' is not an AS number", "8.8.5.0/24,,,,x"],
    ]  # fmt: skip


FAR = "far: coordinates over 100 km outside their country"


def test_far_rows(tmp_path: Path) -> None:
    """With what else is wrong with them; a rejected row and one without a location are not far."""
    text = (
        "network,country_code,latitude,longitude,user_type\n"
        "8.8.1.0/24,CH,8.5,47.4,\n"
        "8.8.2.0/24,CH,47.4,8.5,\n"
        "nowhere,CH,8.5,47.4,\n"
        "8.8.3.0/24,,,,\n"
        "8.8.4.0/24,CH,8.5,47.4,robot\n"
        "8.8.5.0/24,QQ,8.5,47.4,\n"
        "8.8.6.0/24,CH,8.5,47.4,\n"
    )
    assert listed(tmp_path, "a.csv", text, one("csv", "a.csv")) == [
        ["2", FAR, "8.8.1.0/24,CH,8.5,47.4,"],
        ["4", "not an address", "nowhere,CH,8.5,47.4,"],
        ["6", f"nulled: {ROBOT}; {FAR}", "8.8.4.0/24,CH,8.5,47.4,robot"],
        ["7", f"nulled: country_code 'QQ' {COUNTRY}", "8.8.5.0/24,QQ,8.5,47.4,"],
        ["8", FAR, "8.8.6.0/24,CH,8.5,47.4,"],
    ]


LISTED = "'build --rejects FILE' lists them"
PLACES = ["CH,47.4,8.5", "US,40.7,-74.0", "SE,59.3,18.1", "FJ,-17.8,178.1", "AU,-33.9,151.2"]


def located(rows: list[str]) -> str:
    header = "network,country_code,latitude,longitude\n"
    return header + "".join(f"8.8.{number}.0/24,{row}\n" for number, row in enumerate(rows))


def swapped(row: str) -> str:
    country, latitude, longitude = row.split(",")
    return f"{country},{longitude},{latitude}"


def far(report: BuildReport) -> tuple[int, int]:
    [source] = report.sources
    return source.rows["far"], source.swapped


def test_a_file_with_swapped_columns(build: Build) -> None:
    """-74° and 151° fit the other column as well, but are no latitude: they are nulled or far."""
    _, report = build({"a.csv": located(PLACES)})
    assert (far(report), report.warnings) == ((0, 0), [])
    _, report = build({"a.csv": located([swapped(city) for city in PLACES])})
    assert far(report) == (3, 3)
    assert report.sources[0].nulled == {"latitude": 2, "longitude": 2}
    problem = "3 rows with coordinates over 100 km outside their country"
    hint = "; 3 are inside if latitude and longitude are swapped"
    assert report.warnings == [f"a.csv: {problem}{hint}; {LISTED}"]
    lines = list(report.lines())
    assert f"  far         {problem}" in lines
    assert f"warning: a.csv: {problem}{hint}; {LISTED}" in lines


ROW = {"network": "8.8.1.0/24", "country_code": "QQ"}
NULLED = f"nulled: country_code 'QQ' {COUNTRY}"
SYNTAXES: dict[str, tuple[str, str | bytes, list[list[str]]]] = {
    "csv": ("csv", "network,country_code\n8.8.1.0/24,QQ\n", [["2", "8.8.1.0/24,QQ"]]),
    "jsonl": ("jsonl", json.dumps(ROW) + "\n", [["1", json.dumps(ROW)]]),
    "parquet": ("parquet", as_parquet([ROW]), [["1", "8.8.1.0/24"]]),
    "geofeed": ("geofeed", "# feed\n8.8.1.0/24,QQ,,,\n", [["2", "8.8.1.0/24,QQ,,,"]]),
    "rir": ("rir", "ripencc|QQ|ipv4|8.8.1.0|256|19930901|allocated\n",
            [["1", "ripencc|QQ|ipv4|8.8.1.0|256|19930901|allocated"]]),
    "dbip": ("dbip", "8.8.1.0,8.8.1.255,QQ\n", [["1", "8.8.1.0,8.8.1.255,QQ"]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_syntax(tmp_path: Path, name: str) -> None:
    format_name, content, rows = SYNTAXES[name]
    options = ['layout = "country-lite"'] if name == "dbip" else []
    file = "a.txt" if name == "rir" else f"a.{name if name in ('jsonl', 'parquet') else 'csv'}"
    result = listed(tmp_path, file, content, one(format_name, file, *options))
    assert result == [[line, NULLED, text] for line, text in rows]


@needs("maxminddb")
def test_networks_of_a_tree(tmp_path: Path) -> None:
    """An MMDB file has no lines: the network names the row."""
    records = {
        "8.8.0.0/16": {"country_code": "CH"},
        "9.9.9.0/24": {"country_code": "QQ"},
        "2600:1::/32": {"country_code": "QR"},
    }
    rows = listed(tmp_path, "a.mmdb", mmdb(records), one("mmdb", "a.mmdb"))
    assert rows == [
        ["", NULLED, "9.9.9.0/24"],
        ["", NULLED.replace("QQ", "QR"), "2600:1::/32"],
    ]


def test_a_carriage_return_in_a_name_ends_no_row(tmp_path: Path) -> None:
    name = "a\rb.csv"
    text = "network,country_code\n8.8.1.0/24,NL\n8.8.2.0/24,QQ\n"
    recipe = one("csv", r"a\rb.csv")
    assert [row[0] for row in listed(tmp_path, name, text, recipe)] == ["3"]
