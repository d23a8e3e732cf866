"""DB-IP: every layout, how it is found, what is unknown, and files that are something else."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest
from geolookup_builder.sources.reading import delimited

from tests.builder.building import fails
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused

PLACE = (
    '"Kanton Zürich","Bezirk Zürich",Zürich,8001,47.3769,8.5417,2657896,1,Europe/Zurich,SZXX0033'
)
LOCATED = {
    "continent_code": "EU",
    "country_code": "CH",
    "region_name": "Kanton Zürich",
    "city_name": "Zürich",
    "postal_code": "8001",
    "latitude": 47.3769,
    "longitude": 8.5417,
    "time_zone": "Europe/Zurich",
    "weather_code": "SZXX0033",
}
BESIDES_CITY = {"postal_code", "time_zone", "weather_code"}
#: Layout: the rest of a row, what is known then.
LAYOUTS: dict[str, tuple[str, dict[str, object]]] = {
    "country-lite": ("CH", {"country_code": "CH"}),
    "asn-lite": ('64500,"Example, AG"', {"asn": 64500, "asn_organization": "Example, AG"}),
    "city-lite": (
        'EU,CH,"Kanton Zürich",Zürich,47.3769,8.5417',
        {key: LOCATED[key] for key in LOCATED if key not in BESIDES_CITY},
    ),
    "country": ("EU,CH", {"continent_code": "EU", "country_code": "CH"}),
    "isp": (
        "EU,CH,Example Net,64500,hosting,fttx,Example AG",
        {
            "continent_code": "EU",
            "country_code": "CH",
            "isp": "Example Net",
            "asn": 64500,
            "user_type": "hosting",
            "connection_type": "Residential",
            "organization": "Example AG",
        },
    ),
    "location": (f"EU,CH,ZH,{PLACE}", {**LOCATED, "region_code": "ZH"}),
    "location-isp": (
        f"EU,CH,{PLACE},Example Net,AS64500,wireless,Example AG",
        {
            **LOCATED,
            "isp": "Example Net",
            "asn": 64500,
            "connection_type": "Mobile",
            "organization": "Example AG",
        },
    ),
}
ADDRESSES = ("5.1.0.0", "5.1.3.255", "2a02:8::", "2a02:8:ff::ffff")


def rows(rest: str) -> str:
    return f"5.1.0.0,5.1.3.255,{rest}\n2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,{rest}\n"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("named", [True, False])
def test_layouts(read: Read, layout: str, named: bool) -> None:
    rest, expected = LAYOUTS[layout]
    name = f"dbip-{layout}-2026-11.csv.gz" if named else "ranges.csv.gz"
    options = [] if named else [f'layout = "{layout}"']
    reading = read({name: gzip.compress(rows(rest).encode())}, one("dbip", name, *options))
    assert (reading.source.read, reading.source.rejected.total()) == (2, 0)
    assert reading.stated(*ADDRESSES) == [expected] * 4
    assert reading.stated("5.1.4.0", "5.0.255.255", "2a02:9::") == [{}] * 3
    assert not reading.source.nulled


def test_what_is_unknown(read: Read) -> None:
    text = (
        "5.0.0.0,5.0.255.255,ZZ,ZZ,,,0,0\n"
        "5.1.0.0,5.1.255.255,EU,ZZ,,,0.0,-0\n"
        "5.2.0.0,5.2.255.255,EU,CH,,Zürich,,\n"
        "5.3.0.0,5.3.255.255,AF,GH,,,0,1.5\n"
    )
    reading = read({"dbip-city-lite.csv": text}, one("dbip", "dbip-city-lite.csv"))
    assert reading.stated("5.0.0.1", "5.1.0.1", "5.2.0.1", "5.3.0.1") == [
        {},
        {"continent_code": "EU"},
        {"continent_code": "EU", "country_code": "CH", "city_name": "Zürich"},
        {"continent_code": "AF", "country_code": "GH", "latitude": 0, "longitude": 1.5},
    ]
    assert not reading.source.nulled


def test_columns_of_the_recipe(read: Read) -> None:
    columns = '["continent", "country", "-", "ip_start", "ip_end", "-", "usage_type"]'
    text = "EU,CH,x,5.1.0.0,5.1.3.255,y,corporate\n"
    reading = read({"a.csv": text}, one("dbip", "a.csv", f"columns = {columns}"))
    assert reading.at("5.1.2.3") == {
        "continent_code": "EU",
        "country_code": "CH",
        "user_type": "business",
    }


WRONG = {
    'layout = "city-light"': "unknown layout 'city-light'; did you mean 'city-lite'?",
    'columns = ["ip_start", "ip_end", "contry"]': "unknown column 'contry'",
    'columns = ["ip_start", "country"]': "no ip_end in columns",
    'columns = ["ip_start", "ip_start", "ip_end"]': "column 'ip_start' twice",
    'columns = "country"': "source.columns is not a list",
    "columns = [1]": "source.columns is not a list",
    'layout = "isp"\ncolumns = ["ip_start", "ip_end"]': "both layout and columns",
    "": "the file name states no layout",
    'layout = "country"': "a.csv:1: 3 columns, but the layout country has 4",
    'layout = "asn-lite"': "a.csv:1: 3 columns, but the layout asn-lite has 4",
}


def test_what_the_recipe_has_wrong(tmp_path: Path) -> None:
    for options, problem in WRONG.items():
        text = one("dbip", "a.csv", options)
        assert problem in str(fails(tmp_path, {"a.csv": rows("CH")}, text))


@pytest.mark.parametrize(
    ("layout", "rest", "column"),
    [
        ("country", '64500,"Example"', "continent"),
        ("asn-lite", "EU,CH", "as_number"),
        ("city-lite", "EU,CH,a,b,c,d", "latitude"),
        ("country-lite", "Switzerland", "country"),
    ],
)
def test_content_of_another_layout(tmp_path: Path, layout: str, rest: str, column: str) -> None:
    name = f"dbip-{layout}-2026-11.csv"
    error = refused(tmp_path, name, rows(rest), one("dbip", name))
    assert error.line == 1
    assert f"is no {column}" in error.problem


def test_names_that_state_no_layout(tmp_path: Path) -> None:
    for name in ("dbip-country-full-2026.csv", "dbip-asn-2026-11.csv", "city-lite.csv"):
        error = refused(tmp_path, name, rows("CH"), one("dbip", name))
        assert "states no layout" in error.problem


def test_files_of_several_layouts_are_several_tables(read: Read) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for layout in ("asn-lite", "city-lite", "country-lite"):
            archive.writestr(f"x/dbip-{layout}-2026-11.csv", rows(LAYOUTS[layout][0]))
        archive.writestr("x/LICENSE.txt", "CC BY 4.0")
    reading = read({"all.zip": stream.getvalue()}, one("dbip", "all.zip"))
    assert [each.name for each in reading.report.sources] == [
        "all.zip (city-lite)",
        "all.zip (country-lite)",
        "all.zip (asn-lite)",
    ]
    found = reading.at("5.1.0.9")
    assert (found["asn"], found["city_name"]) == (64500, "Zürich")


def test_the_archive_may_have_the_name(read: Read) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("data.csv", rows("CH"))
    name = "dbip-country-lite-2026-11.zip"
    reading = read({name: stream.getvalue()}, one("dbip", name))
    assert reading.at("5.1.0.0") == {"country_code": "CH"}


@pytest.mark.parametrize("block", [100, 1 << 20])
def test_rejects_have_their_lines(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    good = rows('EU,CH,"Two\nlines",Zürich,1,2')  # four lines
    bad = "5.1.9.0,5.1.8.0,EU,CH,,,1,2\n5.1.9.0,2a02::,EU,CH,,,1,2\nx,y,EU,CH,,,1,2\n5.1.0.0,CH\n"
    reading = read({"dbip-city-lite.csv": good * 3 + bad + good}, one("dbip", "dbip-city-lite.csv"))
    assert reading.source.read == 12
    assert reading.bad_lines() == [
        (13, "first is after last"),
        (14, "first and last are of two families"),
        (15, "not an address"),
        (16, "wrong number of cells"),
    ]
