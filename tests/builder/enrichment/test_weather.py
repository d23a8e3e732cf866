"""The nearest weather station: against plain trigonometry, at the limit, and bad tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest
from geolookup_builder.report import Filled
from hypothesis import given
from hypothesis import strategies as st

from tests.builder.building import fails, recipe
from tests.builder.enrichment.enriching import STATIONS, enriched
from tests.skips import needs, optional

weather = optional("geolookup_builder.enrichment.weather")
pytestmark = needs("scipy")

HEADER = "country_code,latitude,longitude,weather_code"
ON = "[enrich.weather]\nstations = 'stations.csv'\n"
Place = tuple[float, float]
places = st.tuples(
    st.floats(-90, 90) | st.sampled_from((-90.0, 0.0, 90.0)),
    st.floats(-180, 180) | st.sampled_from((-180.0, -179.99, 0.0, 179.99, 180.0)),
)


def kilometres(one: Place, other: Place) -> float:
    """The haversine distance on a sphere of the Earth's mean radius."""
    (phi, lam), (psi, mu) = (map(math.radians, each) for each in (one, other))
    square = (
        math.sin((psi - phi) / 2) ** 2
        + math.cos(phi) * math.cos(psi) * math.sin((mu - lam) / 2) ** 2
    )
    return 2 * 6371.0088 * math.asin(math.sqrt(min(square, 1.0)))


@given(
    st.lists(places, min_size=1, max_size=12),
    st.lists(places, min_size=1, max_size=12),
    st.sampled_from((1.0, 50.0, 2000.0, 20_040.0)),
)
def test_nearest_as_trigonometry_has_it(
    tmp_path_factory: pytest.TempPathFactory,
    stations: list[Place],
    asked: list[Place],
    max_km: float,
) -> None:
    path = tmp_path_factory.getbasetemp() / "stations.csv"
    rows = [f"{number},{at[0]!r},{at[1]!r}\n" for number, at in enumerate(stations)]
    path.write_text("code,latitude,longitude\n" + "".join(rows))
    columns = {
        name: pa.array([at[n] for at in asked]) for n, name in enumerate(weather.Stations.needs)
    }
    found = weather.Stations(path, max_km).find(columns).to_pylist()
    for at, code in zip(asked, found, strict=True):
        least = min(kilometres(at, each) for each in stations)
        if code is None:
            assert least > max_km - 1e-3
        else:
            assert kilometres(at, stations[int(code)]) < min(least, max_km) + 1e-3


CODES = {
    "US,37.4,-122.08,": "USCA0746",
    "US,37.4,-122.08,MINE": "MINE",  # what is stated stays
    ",52.5,13.4,": "GMXX0007",
    "US,40.7,-74,": None,
    "US,37.4,,": None,
    "US,,,": None,
}


def codes(
    folder: Path, rows: Iterable[str], enrich: str = ON, stations: str = STATIONS
) -> list[object]:
    """The weather codes of rows, in order."""
    answers, _ = enriched(folder, enrich, HEADER, *rows, stations=stations)
    return [answer.get("weather_code") for answer in answers]


def test_code(tmp_path: Path) -> None:
    answers, counts = enriched(tmp_path, ON, HEADER, *CODES)
    assert [each.get("weather_code") for each in answers] == [*CODES.values()]
    assert counts == {"weather_code": Filled(2, 3)}


def test_how_far_is_near_and_which_is_the_nearest(tmp_path: Path) -> None:
    # One degree of latitude is 111.195 km; 50 km are near by default.
    stations = "code,latitude,longitude\nA,0,0\n"
    for limit, code in ((111.1, None), (111.2, "A"), (112, "A")):
        text = f"{ON}max_km = {limit}\n"
        assert codes(tmp_path, ["US,1,0,"], text, stations=stations) == [code], limit
    rows = ["US,0.449,0,", "US,0.45,0,"]
    assert codes(tmp_path, rows, stations=stations) == ["A", None]
    # The shortest way leads over the date line; of stations at one place the first counts.
    stations = "code,latitude,longitude\nWEST,-17,179.9\nFAR,-17,-179\n"
    assert codes(tmp_path, ["FJ,-17,-179.9,"], stations=stations) == ["WEST"]
    stations = "latitude,code,longitude\n1,B,2\n1.0,A,2\n"
    assert codes(tmp_path, ["US,1,2,"], stations=stations) == ["B"]


BAD_TABLES: list[tuple[str, int | None, str]] = [
    ("", None, "empty file"),
    ("code,latitude,longitude\n", None, "no station in it"),
    ("code,latitude,longitud\n", 1, "unknown column 'longitud'"),
    ("code,latitude\n", 1, "missing column longitude"),
    (STATIONS + ",1,2\n", 4, "a station without code"),
    (STATIONS + "A,north,2\n", 4, "bad latitude 'north'"),
    (STATIONS + "A,,2\n", 4, "bad latitude ''"),
    (STATIONS + "A,90.1,2\n", 4, "bad latitude '90.1'"),
    (STATIONS + "A,nan,2\n", 4, "bad latitude 'nan'"),
    (STATIONS + "A,1,-180.5\n", 4, "bad longitude '-180.5'"),
    (STATIONS + "A,1\n", 4, "2 cells under 3 columns"),
]


def test_a_bad_table(tmp_path: Path) -> None:
    text, path = recipe("path = 'a.csv'") + ON, str(tmp_path / "stations.csv")
    error = fails(tmp_path, {"a.csv": "network\n"}, text)
    assert error.path == path
    assert "cannot be read" in error.problem
    for table, line, problem in BAD_TABLES:
        error = fails(tmp_path, {"a.csv": "network\n", "stations.csv": table}, text)
        assert (error.path, error.line, error.problem) == (path, line, problem)
