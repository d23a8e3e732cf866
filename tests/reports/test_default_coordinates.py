"""Default coordinates: which ones are, by the definition, one address block at a time."""

from __future__ import annotations

import pytest

from geolookup.dataset.files import Dataset
from tests.conftest import Build

pytest.importorskip("jinja2")

_HEAD = "network,country_code,city_name,latitude,longitude\n"


def _found(build: Build, rows: list[str]) -> list[tuple[str, str, int, float]]:
    from geolookup.comparison.values import coordinates
    from geolookup.contract.fields import LOCATION
    from geolookup.reports.dataset.default_coordinates import find_default_coordinates
    from geolookup.reports.dataset.facts import read_facts

    dataset, _ = build({"rows.csv": _HEAD + "\n".join(rows) + "\n"})
    facts = read_facts(Dataset(dataset))
    found = find_default_coordinates(facts, coordinates(facts.tables[LOCATION]))
    for each in found:
        assert 0 < each.share <= 1
    return [(each.name, each.reason, int(each.weight), round(each.share, 4)) for each in found]


def _towns(country: str, first: int, count: int) -> list[str]:
    return [f"{first}.{at}.0.0/24,{country},Town {at},{at},{at + 1}" for at in range(count)]


def test_addresses_without_a_city_have_default_coordinates(build: Build) -> None:
    rows = [
        "20.0.0.0/24,US,,37.751,-97.822",
        "20.0.2.0/23,US,,37.751,-97.822",
        "20.1.0.0/24,US,Wichita,37.751,-97.822",  # at the same place, with a city
        "21.0.0.0/24,US,Boston,42.3,-71.1",
        "22.0.0.0/25,CA,,56,-106",
        "23.0.0.0/24,FR,,,",  # no coordinates
    ]
    assert _found(build, rows) == [
        ("United States (US)", "no city", 768, 0.6),
        ("Canada (CA)", "no city", 128, 1.0),
    ]


def test_the_same_coordinates_in_two_countries_count_twice(build: Build) -> None:
    rows = ["20.0.0.0/24,CH,,46.2,6.1", "20.1.0.0/25,FR,,46.2,6.1"]
    assert _found(build, rows) == [
        ("Switzerland (CH)", "no city", 256, 1.0),
        ("France (FR)", "no city", 128, 1.0),
    ]


@pytest.mark.parametrize(("others", "expected"), [(9, True), (8, False)])
def test_a_quarter_of_a_country_has_default_coordinates(
    build: Build, others: int, expected: bool
) -> None:
    """Of a country with ten places or more."""
    rows = [*_towns("DE", 20, others), "21.0.0.0/22,DE,Berlin,52.5,13.4"]
    share = round(1024 / (1024 + 256 * others), 4)
    assert _found(build, rows) == ([("Germany (DE)", "large share", 1024, share)] * expected)


@pytest.mark.parametrize(("towns", "expected"), [(12, True), (13, False)])
def test_less_than_a_quarter_is_none(build: Build, towns: int, expected: bool) -> None:
    rows = [*_towns("DE", 20, towns), "21.0.0.0/22,DE,Berlin,52.5,13.4"]
    assert bool(_found(build, rows)) == expected


def test_the_largest_are_shown(build: Build) -> None:
    rows = [f"20.{at}.0.0/{17 + at % 8},US,,{at},{at}" for at in range(30)]
    sizes = [found[2] for found in _found(build, rows)]
    assert sizes == sorted((2 ** (15 - at % 8) for at in range(30)), reverse=True)[:20]


def test_coordinates_are_no_finer_than_a_cell(build: Build) -> None:
    from geolookup.comparison.values import coordinates
    from geolookup.contract.fields import LOCATION
    from geolookup.reports.dataset.default_coordinates import find_default_coordinates
    from geolookup.reports.dataset.facts import read_facts

    rows = ["20.0.0.0/24,US,,37.7511,-97.8221", "20.1.0.0/24,US,,37.7512,-97.8222"]
    dataset, _ = build({"rows.csv": _HEAD + "\n".join(rows) + "\n"})
    facts = read_facts(Dataset(dataset))
    one, other = find_default_coordinates(facts, coordinates(facts.tables[LOCATION]))
    assert (one.latitude, one.longitude) == (other.latitude, other.longitude)
    assert one.latitude == pytest.approx(37.7511, abs=0.01)
