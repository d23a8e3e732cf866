"""What ``[enrich]`` fills: zones of coordinates, codes of regions, the nearest weather station."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder.build_report import BuildReport, FillCount
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from tests.builder.building import STATIONS, enriched
from tests.skips import needs, optional

ZONE_ON = "time_zone = true\n"


def zones(folder: Path, count: int) -> list[str | None]:
    with geolookup.open(folder / "dataset") as engine:
        return [engine.data(f"8.8.{n}.1")["time"]["zone"] for n in range(count)]


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


REGIONS = [
    ("US", "California", "CA"),
    ("US", "  CALIFORNIA ", "CA"),
    ("US", "Hawai\u2019i", "HI"),
    ("US", "Georgia", "GA"),  # a country as well, but not of this country
    ("CA", "Quebec", "QC"),
    ("CA", "Québec", "QC"),
    ("AU", "New South Wales", "NSW"),
    ("SE", "Stockholms län", "AB"),
    ("CH", "Neuchatel", "NE"),
    ("ES", "Cataluña", "CT"),
    ("ES", "Catalunya", "CT"),
    ("ES", "Comunidad de Madrid", "MD"),
    ("ES", "Madrid", "MD"),  # and not the province of that name
    ("ES", "Salamanca", "SA"),  # a province alone bears it
    ("GB", "England", "ENG"),
    ("GB", "City of Bristol", "BST"),
    ("FR", "Val-d'Oise", "95"),
    ("PL", "Łódzkie", "10"),
    ("PL", "lodzkie", "10"),
    ("US", "Nowhere", None),
    ("US", "Québec", None),
    ("US", "---", None),
    ("US", "", None),
    ("", "California", None),
    ("VA", "Rome", None),  # a country without regions
]


@needs("pycountry")
def test_codes_of_names(tmp_path: Path) -> None:
    rows = [f"{country},{name}" for country, name, _ in REGIONS]
    answers, counts = enriched(tmp_path, REGION_ON, "country_code,region_name", *rows)
    codes = [
        (*case[:2], answer.get("region_code"))
        for case, answer in zip(REGIONS, answers, strict=True)
    ]
    assert codes == REGIONS
    lacking = len({row for row, (_, _, code) in zip(rows, REGIONS, strict=True) if code is None})
    assert counts == {"region_code": FillCount(len(REGIONS) - lacking, lacking)}
    columns = "country_code,region_code,region_name"
    answers, counts = enriched(tmp_path, REGION_ON, columns, "US,CA,Texas", "US,,Texas", "US,??,")
    assert [answer["region_code"] for answer in answers] == ["CA", "TX", "??"]
    assert [answer.get("region_name") for answer in answers] == ["Texas", "Texas", None]
    assert counts == {"region_code": FillCount(1, 0)}
    answers, _ = enriched(tmp_path, REGION_ON, columns, "US,CA,California", "US,,California")
    assert answers[0] == answers[1]
    assert b'"locations": 1,' in (tmp_path / "dataset" / "manifest.json").read_bytes()


weather = optional("geolookup_builder.enrichment.by_coordinates")

HEADER = "country_code,latitude,longitude,weather_code"
WEATHER_ON = "[enrich.weather]\nstations = 'stations.csv'\n"
Point = tuple[float, float]
places = st.tuples(
    st.floats(-90, 90) | st.sampled_from((-90.0, 0.0, 90.0)),
    st.floats(-180, 180) | st.sampled_from((-180.0, -179.99, 0.0, 179.99, 180.0)),
)


def kilometres(one: Point, other: Point) -> float:
    """The haversine distance on a sphere of the Earth's mean radius."""
    (phi, lam), (psi, mu) = (map(math.radians, item) for item in (one, other))
    square = (
        math.sin((psi - phi) / 2) ** 2
        + math.cos(phi) * math.cos(psi) * math.sin((mu - lam) / 2) ** 2
    )
    return 2 * 6371.0088 * math.asin(math.sqrt(min(square, 1.0)))


@needs("scipy")
@given(
    st.lists(places, min_size=1, max_size=12),
    st.lists(places, min_size=1, max_size=12),
    st.sampled_from((1.0, 50.0, 2000.0, 20_040.0)),
)
def test_nearest_as_trigonometry_has_it(
    tmp_path_factory: pytest.TempPathFactory,
    stations: list[Point],
    asked: list[Point],
    max_km: float,
) -> None:
    path = tmp_path_factory.getbasetemp() / "stations.csv"
    rows = [f"{number},{at[0]!r},{at[1]!r}\n" for number, at in enumerate(stations)]
    path.write_text("code,latitude,longitude\n" + "".join(rows), encoding="utf-8")
    columns = {
        name: pa.array([at[n] for at in asked]) for n, name in enumerate(weather.Stations.needs)
    }
    result = weather.Stations(path, max_km).find(columns).to_pylist()
    for at, code in zip(asked, result, strict=True):
        least = min(kilometres(at, station) for station in stations)
        if code is None:
            assert least > max_km - 1e-3
        else:
            assert kilometres(at, stations[int(code)]) < min(least, max_km) + 1e-3


def codes(
    folder: Path, rows: Iterable[str], enrich: str = WEATHER_ON, stations: str = STATIONS
) -> list[object]:
    answers, _ = enriched(folder, enrich, HEADER, *rows, stations=stations)
    return [answer.get("weather_code") for answer in answers]
