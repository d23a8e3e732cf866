"""No column of ours, and no declared one, is lost in silence: it is read, refused, or not read and
printed.

The headers of vendors, with one column added, renamed or taken away; and tables of one's own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from geolookup.errors import BuildError
from tests.builder.sources.formats.test_dbip import IPLOCATE_ASN, IPLOCATE_COUNTRY
from tests.builder.sources.formats.test_generic_typed import as_parquet
from tests.builder.sources.formats.test_ipinfo import PRODUCTS as IPINFO
from tests.builder.sources.formats.test_maxmind import BLOCKS
from tests.builder.sources.readings import Read, Reading, fails, fields, one, read_at
from tests.conftest import Build

NET = "8.8.4.0/24"
#: The headers of vendors' files that need no other file beside them.
HEADERS = dict.fromkeys(
    text.partition("\n")[0]
    for text in (
        *(BLOCKS[name] for name in ("asn", "isp", "connection")),
        *(text for text, _ in IPINFO.values()),
        *(IPLOCATE_COUNTRY, IPLOCATE_ASN),
    )
)
#: A cell of each column; others have a word.
CELLS = {
    "network": NET,
    "start_ip": "8.8.4.0",
    "end_ip": "8.8.4.255",
    "join_key": "8.8.0.0",
    "latitude": "47.5",
    "longitude": "8.5",
    "lat": "46.5",
    "lon": "7.5",
    "country": "CH",
    "country_code": "CH",
    "continent": "EU",
    "continent_code": "EU",
    "timezone": "Europe/Zurich",
    "time_zone": "Europe/Zurich",
    "asn": "AS64500",
    "autonomous_system_number": "64501",
    "region_code": "ZH",
    "postal": "8000",
    "connection_type": "Mobile",
    "user_type": "hosting",
    "weather_code": "SZXX0033",
}
#: Columns of ours, by long and short names, and a declared one.
OURS = ("isp", "city", "city_name", "lat", "postal", "time_zone", "organization", "asn", "site")
SITE = '[columns]\nsite = "text"\n'


def row(names: list[str]) -> str:
    """A file of one row."""
    cells = ",".join(CELLS.get(name, f"the {name}") for name in names)
    return f"{','.join(names)}\n{cells}\n"


def check_law(folder: Path, names: list[str], column: str) -> None:
    """A column of a file is read, refused, or printed as not read."""
    try:
        reading = read_at(folder, {"a.csv": row(names)}, SITE + one("auto", "a.csv"))
    except BuildError:
        return
    cell = CELLS.get(column, f"the {column}").removeprefix("AS")
    values = {str(value) for value in reading.at("8.8.4.4").values()}
    assert cell in values or column in reading.source.unread, (names, reading.source)
    if column not in reading.source.unread or column == "colour":  # of nobody: some are listed
        return
    assert any(column in line for line in reading.source.lines() if line[:10] == "  not read")


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("column", OURS)
def test_one_column_of_ours_added(tmp_path: Path, header: str, column: str) -> None:
    names = header.split(",")
    if column not in names:
        check_law(tmp_path, [*names, column], column)


@pytest.mark.parametrize("header", HEADERS)
def test_one_column_renamed_or_taken_away(tmp_path: Path, header: str) -> None:
    names = header.split(",")
    for at, old in enumerate(names[1:], 1):
        for new in ("site", "lon", "colour"):
            if new not in names:
                check_law(tmp_path, [*names[:at], new, *names[at + 1 :]], new)
        other = "longitude" if old == "latitude" else "latitude"
        if old in ("latitude", "longitude"):
            text = row([*names[:at], *names[at + 1 :]])
            error = fails(tmp_path, {"a.csv": text}, one("auto", "a.csv"))
            assert f"{other} without {old}" in error.problem
            assert "columns = { l" in error.remedy


def forms(names: str, *cells: str) -> dict[str, str | bytes]:
    """A row as CSV, JSON lines and Parquet."""
    record = dict(zip(names.split(","), cells, strict=True))
    return {
        "csv": f"{names}\n{','.join(cells)}\n",
        "jsonl": json.dumps(record) + "\n",
        "parquet": as_parquet([record]),
    }


def in_forms(read: Read, recipe: str, names: str, *cells: str) -> list[Reading]:
    """A row read in each form; the format of the recipe is ``auto``."""
    return [
        read({f"a.{suffix}": content}, recipe + one("auto", f"a.{suffix}"))
        for suffix, content in forms(names, *cells).items()
    ]


def test_a_table_of_ones_own_is_no_table_of_a_vendor(read: Read, tmp_path: Path) -> None:
    """With the names of IPinfo Location, whose reader knows neither of the others."""
    names, cells = "network,country,city,site,isp", (NET, "CH", "Bern", "HQ", "Acme")
    known = fields("country_code=CH; city_name=Bern; isp=Acme") | {"own.site": "HQ"}
    for reading in in_forms(read, SITE, names, *cells):
        assert reading.format in {"csv", "jsonl", "parquet"}
        assert reading.at("8.8.4.4") == known
        assert reading.source.unread == ()
    for suffix, content in forms(names, *cells).items():
        error = fails(tmp_path, {f"a.{suffix}": content}, one("auto", f"a.{suffix}"))
        assert "unknown column 'site'" in error.problem
    short = "network,country,city,lat,lon,timezone"
    known = fields("country_code=CH; city_name=Bern; latitude=46.5; longitude=7.5")
    known |= {"time_zone": "Europe/Zurich"}
    places = (NET, "CH", "Bern", "46.5", "7.5", "Europe/Zurich")
    for reading in in_forms(read, "", short, *places):
        assert reading.at("8.8.4.4") == known


def test_countries_beside_names_of_as_are_not_lost(tmp_path: Path) -> None:
    """IPinfo's files of AS numbers state the country of the AS, and its domain."""
    for suffix, content in forms("network,asn,name,country", NET, "5", "Acme", "CH").items():
        error = fails(tmp_path, {f"a.{suffix}": content}, one("auto", f"a.{suffix}"))
        assert error.problem == "unknown column 'name'"


def test_a_stated_format_reads_more_columns_by_their_names(read: Read) -> None:
    location, _ = IPINFO["location"]
    names = [*location.partition("\n")[0].split(","), "site", "isp", "colour"]
    reading = read({"a.csv": row(names)}, SITE + one("ipinfo", "a.csv"))
    assert reading.at("8.8.4.4").items() >= {"own.site": "the site", "isp": "the isp"}.items()
    assert reading.source.unread == ("country", "continent", "colour")


def test_a_tie_names_both(tmp_path: Path) -> None:
    """The columns of IPinfo Carrier, all of them declared."""
    declared = '[columns]\ncarrier = "text"\nmcc = "text"\n'
    text = row(["network", "carrier", "mcc"])
    error = fails(tmp_path, {"a.csv": text}, declared + one("auto", "a.csv"))
    assert error.problem == (
        "fits several formats: csv (columns network, carrier, mcc), ipinfo (Carrier)"
    )


def test_columns_maps_what_differs(read: Read, tmp_path: Path) -> None:
    recipe = SITE + one("auto", "a.FORM", 'columns = { country_code = "land" }')
    names, cells = "network,land,city,site,isp,colour", (NET, "CH", "Bern", "HQ", "Acme", "red")
    known = fields("country_code=CH; city_name=Bern; isp=Acme") | {"own.site": "HQ"}
    for suffix, content in forms(names, *cells).items():
        reading = read({f"a.{suffix}": content}, recipe.replace("FORM", suffix))
        assert reading.at("8.8.4.4") == known
        assert reading.source.unread == ("colour",)
    # A mapped column is nothing else, and a field has one column.
    recipe = one("csv", "a.csv", 'columns = { region_name = "city" }')
    text = f"network,city,region\n{NET},Bern,Mitte\n"
    reading = read({"a.csv": text}, recipe)
    assert reading.at("8.8.4.4") == {"region_name": "Bern"}
    assert reading.source.unread == ("region",)
    # So may the columns of a vendor.
    recipe = one("ipinfo", "a.csv", 'columns = { isp = "as_name" }')
    reading = read({"a.csv": IPINFO["Lite"][0]}, recipe)
    assert reading.values("isp", "8.8.4.4") == ["Example, Inc."]


def test_a_field_by_two_names_beside_a_mapping(read: Read, tmp_path: Path) -> None:
    """Also a column twice, if it is read; a mapping decides between two names."""
    recipe = SITE + one("csv", "a.csv", 'columns = { isp = "x" }')
    for names, problem in (
        ("network,x,country,country_code", "columns 'country' and 'country_code' are the same"),
        ("network,x,site,own.site", "columns 'site' and 'own.site' are the same field"),
        ("network,x,country,country", "column 'country' twice"),
        ("network,x,x,country", "column 'x' twice"),
    ):
        error = fails(tmp_path, {"a.csv": f"{names}\n{NET},a,b,c\n"}, recipe)
        assert error.problem.startswith(problem)
    text = f"network,country,country_code,colour,colour\n{NET},CH,DE,a,b\n"
    reading = read({"a.csv": text}, one("csv", "a.csv", 'columns = { country_code = "country" }'))
    assert reading.at("8.8.4.4") == {"country_code": "CH"}
    assert {*reading.source.unread} == {"country_code", "colour"}


def test_a_range_is_mapped_in_part(read: Read) -> None:
    recipe = one("csv", "a.csv", 'columns = { first = "from" }')
    reading = read({"a.csv": "from,last,isp\n8.8.4.0,8.8.4.255,x\n"}, recipe)
    assert reading.ranges() == {NET: {"isp": "x"}}


INDEXES = {
    ",network,isp\n0,8.8.4.0/24,x\n": "(column 1) ignored: the index of a frame of pandas",
    "Unnamed: 0,network,isp\n0,8.8.4.0/24,x\n": (
        "Unnamed: 0 ignored: the index of a frame of pandas"
    ),
    "network,isp,__index_level_0__\n8.8.4.0/24,x,0\n": (
        "__index_level_0__ ignored: the index of a frame of pandas"
    ),
    "network,isp,\n8.8.4.0/24,x,\n": (
        "(column 3) ignored: without a name: the header ends in a delimiter"
    ),
}


@pytest.mark.parametrize("text", INDEXES)
def test_columns_without_a_name_are_named(read: Read, text: str) -> None:
    reading = read({"a.csv": text}, one("auto", "a.csv"))
    assert reading.ranges() == {NET: {"isp": "x"}}
    assert reading.source.note.endswith(INDEXES[text])
    assert len(reading.source.unread) == 1


CELL_ROWS = (
    "network;country;lat;lon;isp;margin\n"
    "10.0.0.0/255.0.0.0;CH;47,5;8,25;N/A;1,5\n"
    "8.8.4.0/255.255.255.0;CH;47,5;8,25;-;2\n"
    "2600:1::/ffff:ffff::;NO;-1;0,0; Acme ;1.234\n"
    "9.9.9.0/0.0.0.255;NO;1;1;x;1\n"
)
CELLS_OF_RECIPE = '[source.cells]\nempty = ["N/A", "-"]\ndecimal = ","\nnetmasks = true'


def test_cells_of_in_house_files(read: Read) -> None:
    recipe = '[columns]\nmargin = "real"\n' + one(
        "csv", "a.csv", 'delimiter = ";"', CELLS_OF_RECIPE
    )
    reading = read({"a.csv": CELL_ROWS}, recipe)
    location = fields("country_code=CH; latitude=47.5; longitude=8.25")
    assert reading.at("8.8.4.4") == {**location, "own.margin": 2.0}
    assert reading.at("2600:1::7").items() >= {"latitude": -1, "longitude": 0}.items()
    assert reading.at("2600:1::7")["isp"] == "Acme"
    assert "own.margin" not in reading.at("2600:1::7")  # 1.234 is a thousand, or not
    assert dict(reading.source.nulled) == {"own.margin": 1}
    assert dict(reading.source.emptied) == {"N/A": 1, "-": 1}
    assert reading.bad_lines() == [(5, "not a prefix length")]
    assert any("emptied     2 values (1 N/A, 1 -)" in line for line in reading.source.lines())


def test_netmasks_in_a_column(read: Read) -> None:
    for header, options in (
        ("network,netmask,isp", ()),
        ("ip,mask,isp", ('columns = { network = "ip", netmask = "mask" }',)),
    ):
        text = f"{header}\n8.8.4.0,255.255.255.0,x\n8.8.8.0,24,y\n2600::,ffff::,z\n"
        text += "8.8.9.1,255.0.0.0,w\n"
        reading = read({"a.csv": text}, one("csv", "a.csv", *options))
        assert reading.by_network("isp") == {NET: "x", "8.8.8.0/24": "y", "2600::/16": "z"}
        assert reading.bad_lines() == [(5, "host bits set")]


def test_numbers_of_json_have_no_commas(read: Read) -> None:
    record = {"network": NET, "latitude": 47.5, "longitude": "8,5", "isp": "-"}
    options = ('[source.cells]\ndecimal = ","\nempty = ["-"]',)
    for name, content in (
        ("a.jsonl", json.dumps(record) + "\n"),
        ("a.parquet", as_parquet(pa.Table.from_pylist([record]))),
    ):
        reading = read({name: content}, one("auto", name, *options))
        assert reading.at("8.8.4.4") == fields("latitude=47.5; longitude=8.5")


REGIONS = {
    "country,region\n8.8.8.0/24,US,CA\n8.8.9.0/24,US,US-NY\n9.9.9.0/24,US,Ohio\n": "2 of 3 rows",
    "country,region_name\n8.8.8.0/24,AU,NSW\n": "1 of 1 row",
    "country,region\n8.8.8.0/24,US,CA\n8.8.9.0/24,US,Iowa\n9.9.9.0/24,US,Ohio\n": "",
    "country,region,region_code\n8.8.8.0/24,BR,DF,DF\n": "",
}


@pytest.mark.parametrize("rows", REGIONS)
def test_names_of_regions_that_are_codes(build: Build, rows: str) -> None:
    _, report = build({"a.csv": f"network,{rows}"})
    expected = (
        f"a.csv: region_name is a code in {REGIONS[rows]}; if the column has codes, map it in a"
        ' recipe, columns = { region_code = "…" }'
    )
    assert report.warnings == ([expected] if REGIONS[rows] else [])
