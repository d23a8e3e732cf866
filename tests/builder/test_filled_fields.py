"""What a build fills: zones of coordinates, codes of regions, names of AS numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa

import geolookup
from tests.builder.building import enriched, recipe
from tests.conftest import build_at
from tests.internals.builder import (
    REGION_COLUMNS,
    REGION_NAMES,
    BuildReport,
    FillCount,
    Regions,
    read_table,
)
from tests.skips import needs, optional

pycountry = optional("pycountry")
ZONE_ON = "time_zone = true\n"


def zones(folder: Path, count: int) -> list[str | None]:
    with geolookup.open(folder / "dataset") as engine:
        return [engine.get(f"8.8.{n}.1", "time.zone") for n in range(count)]


ZONES = {
    "US,37.4,-122.08,": "America/Los_Angeles",
    "US,40.7,-74,": "America/New_York",
    "US,40.7,-74,America/Chicago": "America/Chicago",  # what is stated stays
    ",37.4,-122.08,": "America/Los_Angeles",  # coordinates are enough
    "SE,37.4,-122.08,": "Europe/Stockholm",  # a country of one zone has that one
    "AU,-27.5,153,": "Australia/Brisbane",
    "FJ,-17,-179.9,": "Pacific/Fiji",
    "US,0,-150,": None,  # at sea
    "US,37.4,,": None,
    "US,,-122.08,": None,
    "US,,,": None,
    "US,91,0,": None,  # a bad value nulls the location
    "AQ,-90,0,": "Antarctica/McMurdo",
    "RU,67,180,": "Asia/Anadyr",
    "RU,67,-180,": "Asia/Anadyr",
}


@needs("tzfpy")
def test_zones_and_their_counts(tmp_path: Path) -> None:
    _, counts = enriched(tmp_path, ZONE_ON, "country_code,latitude,longitude,time_zone", *ZONES)
    assert dict(zip(ZONES, zones(tmp_path, len(ZONES)), strict=True)) == ZONES
    assert set(counts) == {"time_zone"}
    columns = "country_code,latitude,longitude"
    rows = ("US,37.4,-122.08", "US,37.4,-122.08", "US,40.7,-74", "US,,", "SE,,", ",,", "US,0,-150")
    _, counts = enriched(tmp_path, ZONE_ON, columns, *rows)
    assert counts == {"time_zone": FillCount(2, 2)}
    report = BuildReport(enriched=counts)
    assert "time_zone: 2 locations filled, 2 not found" in list(report.lines())
    _, counts = enriched(tmp_path, "time_zone = false", columns, "US,1,1")
    assert (counts, zones(tmp_path, 1)) == ({}, [None])


REGION_ON = "region_code = true\n"


#: Names as DB-IP and others write them, and the code; ``-`` if no region has the name.
NAMES = """
AE Dubai DU; AR Buenos Aires F.D. C; AT Vienna 9; AT Lower Austria 3; AU New South Wales NSW;
BE Brussels Capital BRU; BE Flanders VLG; BG Sofia-Capital 22; BR São Paulo SP; CA Quebec QC;
CA Québec QC; CH Geneva GE; CH Neuchatel NE; CH Zurich ZH; CL Santiago Metropolitan RM;
CN Guangdong GD; CN Inner Mongolia NM; CZ Prague 10; DE Baden-Württemberg BW; DE Bavaria BY;
DE Hesse HE; DE Lower Saxony NI; DE North Rhine-Westphalia NW; DK Capital Region 84;
EG Cairo Governorate C; ES Andalusia AN; ES Cataluña CT; ES Catalunya CT; ES Catalonia CT;
ES Comunidad de Madrid MD; ES Madrid MD; ES Salamanca SA; FI Uusimaa 18; FR Île-de-France IDF;
FR Normandy NOR; FR Val-d'Oise 95; GB City of Bristol BST; GB England ENG; GR Attica I;
HU Budapest BU; ID West Java JB; IE Leinster L; IN Maharashtra MH; IR Tehran 23; IT Lombardy 25;
IT Tuscany 52; IT The Marches 57; JP Tokyo 13; KR Seoul 11; KR Gyeonggi-do 41;
KZ East Kazakhstan 63; MX Mexico City CMX; MX México MEX; NL North Holland NH;
NL South Holland ZH; NO Oslo County 03; PH Metro Manila 00; PL Łódzkie 10; PL lodzkie 10;
PL Mazovia 14; PT Lisbon 11; RU Moscow MOW; RU Moscow Oblast MOS; RU Tatarstan Republic TA;
SA Riyadh Region 01; SE Stockholm AB; SE Stockholms län AB; SE Västra Götaland County O;
TH Bangkok 10; TR Istanbul 34; UA Kyiv City 30; UA Kharkiv 63; US California CA;
US CALIFORNIA  CA; US Georgia GA; US Hawai\u2019i HI; US Nowhere -; US Québec -; US --- -; US -;
VA Rome -; VN Hanoi HN; ZA Western Cape WC
"""


@needs("pycountry")
def test_codes_of_names(tmp_path: Path) -> None:
    cases = [case.strip("\n").rsplit(" ", 1) for case in NAMES.split(";")]
    named = {row.strip().replace(" ", ",", 1): code for row, code in cases}
    rows = [row if "," in row else f"{row}," for row in named] + [",California"]
    codes = [None if code == "-" else code for code in named.values()] + [None]
    answers, counts = enriched(tmp_path, REGION_ON, "country_code,region_name", *rows)
    filled = [answer.get("region_code") for answer in answers]
    assert dict(zip(rows, filled, strict=True)) == dict(zip(rows, codes, strict=True))
    lacking = codes.count(None)
    assert counts == {"region_code": FillCount(len(rows) - lacking, lacking)}
    columns = "country_code,region_code,region_name"
    answers, counts = enriched(tmp_path, REGION_ON, columns, "US,CA,Texas", "US,,Texas", "US,99,")
    assert [answer["region_code"] for answer in answers] == ["CA", "TX", "99"]
    assert [answer.get("region_name") for answer in answers] == ["Texas", "Texas", None]
    assert counts == {"region_code": FillCount(1, 0)}
    answers, _ = enriched(tmp_path, REGION_ON, columns, "US,CA,California", "US,,California")
    assert answers[0] == answers[1]
    assert b'"locations": 1,' in (tmp_path / "dataset" / "manifest.json").read_bytes()


@needs("pycountry")
def test_names_of_geonames(shared_data: Path) -> None:
    """Nineteen in twenty names have a code, and no code has two of a country."""
    text = (shared_data / "geonames" / "admin1CodesASCII.txt").read_text(encoding="utf-8")
    rows = [(line[:2], line.split("\t")[1]) for line in text.splitlines()]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    found = Regions().find(dict(zip(Regions.needs, columns, strict=True))).to_pylist()
    of_iso = {region.country_code for region in pycountry.subdivisions}
    codes = [code for (country, _), code in zip(rows, found, strict=True) if country in of_iso]
    assert sum(code is not None for code in codes) / len(codes) > 0.94
    pairs = zip((country for country, _ in rows), found, strict=True)
    several = {pair for pair, count in Counter(pairs).items() if count > 1 and pair[1]}
    assert several <= {("AZ", "SUS"), ("KZ", "75"), ("BY", "HM"), ("LA", "VT")}


@needs("pycountry")
def test_the_table_of_names() -> None:
    """Its codes are ISO's, and no name has another code by ISO."""
    rows = [row for _, row in read_table(REGION_NAMES, REGION_COLUMNS)]
    of_iso = {region.code for region in pycountry.subdivisions}
    codes = {f"{row['country_code']}-{row['region_code']}" for row in rows}
    assert len(codes - of_iso) < 10  # editions of ISO differ
    columns = {
        name: pa.array([row[name] for row in rows]) for name in ("country_code", "region_name")
    }
    found = Regions().find(columns).to_pylist()
    assert all(code in (row["region_code"], None) for row, code in zip(rows, found, strict=True))
    assert found.count(None) < 60


NUMBERS = "network,asn,asn_organization\n"


def test_numbers_of_as_that_take_a_name_of_a_source_below(tmp_path: Path) -> None:
    """The names themselves: the examples of tests/property/test_resolution.py."""
    files: dict[str, str | bytes] = {
        "own.csv": f"{NUMBERS}8.8.8.0/24,AS64500,\n8.8.9.0/24,64501,\n8.8.10.0/24,64502,Ours\n",
        "below.csv": f"{NUMBERS}9.0.0.0/8,64500,First\n10.0.0.0/8,64501,Private\n",
    }
    text = recipe(*(f'path = "{name}"' for name in files))
    dataset, report = build_at(tmp_path, files, text)
    assert report.as_names == 2
    assert "asn_organization: 2 numbers named by the sources below" in [*report.lines()]
    with geolookup.open(dataset) as engine:
        explained = engine.explain("8.8.8.1")["layers"]["asn"]
    named = explained["source"], explained["values"]["asn_organization"]
    assert named == ("own.csv", "First")
