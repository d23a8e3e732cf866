"""Coordinates outside their country: counted and warned of, for a file with swapped columns."""

from __future__ import annotations

from tests.conftest import Build
from tests.internals.builder import BuildReport

HEADER = "network,country_code,latitude,longitude\n"
LISTS = "'build --rejects FILE' lists them"
PLACES = ["CH,47.4,8.5", "US,40.7,-74.0", "SE,59.3,18.1", "FJ,-17.8,178.1", "AU,-33.9,151.2"]


def text(rows: list[str]) -> str:
    return HEADER + "".join(f"8.8.{number}.0/24,{row}\n" for number, row in enumerate(rows))


def swapped(row: str) -> str:
    country, latitude, longitude = row.split(",")
    return f"{country},{longitude},{latitude}"


def far(report: BuildReport) -> tuple[int, int]:
    [source] = report.sources
    return source.rows["far"], source.swapped


def test_a_file_with_swapped_columns(build: Build) -> None:
    """-74° and 151° fit the other column as well, but are no latitude: they are nulled or far."""
    _, report = build({"a.csv": text(PLACES)})
    assert (far(report), report.warnings) == ((0, 0), [])
    _, report = build({"a.csv": text([swapped(city) for city in PLACES])})
    assert far(report) == (3, 3)
    assert report.sources[0].nulled == {"latitude": 2, "longitude": 2}
    problem = "3 rows with coordinates over 100 km outside their country"
    hint = "; 3 are inside if latitude and longitude are swapped"
    assert report.warnings == [f"a.csv: {problem}{hint}; {LISTS}"]
    lines = list(report.lines())
    assert f"  far         {problem}" in lines
    assert f"warning: a.csv: {problem}{hint}; {LISTS}" in lines
