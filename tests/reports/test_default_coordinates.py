"""Default coordinates: which ones are, by the definition, one address block at a time."""

from __future__ import annotations

import pytest

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import LOCATION
from geolookup.dataset.files import Dataset
from geolookup.pictures.world import DefaultCoordinates
from geolookup.reports.dataset.default_coordinates import find_default_coordinates
from geolookup.reports.dataset.facts import read_facts
from tests.conftest import Build

_HEAD = "network,country_code,city_name,latitude,longitude\n"


def _found(build: Build, rows: list[str], head: str = _HEAD) -> list[DefaultCoordinates]:
    facts = read_facts(Dataset(build({"rows.csv": head + "\n".join(rows) + "\n"})[0]))
    return find_default_coordinates(facts, coordinates(facts.tables[LOCATION]))


def _towns(country: str, first: int, count: int) -> list[str]:
    return [f"{first}.{at}.0.0/24,{country},Town {at},{at},{at + 1}" for at in range(count)]


def test_the_definition(build: Build) -> None:
    """Addresses without a city; of a country with ten places or more, a quarter at one place."""
    rows = [
        "20.0.0.0/24,US,,37.751,-97.822",
        "20.0.2.0/23,US,,37.751,-97.822",
        "20.1.0.0/24,US,Wichita,37.751,-97.822",  # at the same place, with a city
        "21.0.0.0/24,US,Boston,42.3,-71.1",
        "22.0.0.0/25,CA,,56,-106",
        "23.0.0.0/24,BR,,,",  # no coordinates
        "24.0.0.0/24,CH,,46.2,6.1",
        "24.1.0.0/25,FR,,46.2,6.1",  # the same place, in another country
        *_towns("DE", 60, 9),
        "60.100.0.0/22,DE,Berlin,52.5,13.4",
        *_towns("JP", 61, 8),
        "61.100.0.0/22,JP,Tokyo,35.7,139.7",  # of nine places
        *_towns("GB", 62, 12),
        "62.100.0.0/22,GB,London,51.5,-0.1",  # a quarter
        *_towns("ES", 80, 13),
        "80.100.0.0/22,ES,Madrid,40.4,-3.7",  # less
    ]
    found = _found(build, rows)
    assert [(each.name, each.reason, each.weight, each.share) for each in found] == [
        ("Germany (DE)", "large share", 1024, 1024 / (1024 + 9 * 256)),
        ("United Kingdom (GB)", "large share", 1024, 0.25),
        ("United States (US)", "no city", 768, 0.6),
        ("Switzerland (CH)", "no city", 256, 1),
        ("Canada (CA)", "no city", 128, 1),
        ("France (FR)", "no city", 128, 1),
    ]


def test_a_country_on_two_continents_has_one_place(build: Build) -> None:
    head = _HEAD.replace("city_name", "continent_code")
    rows = ["20.0.0.0/16,CY,EU,35,33", "20.1.0.0/17,CY,AS,35,33", "20.2.0.0/18,,EU,50,10"]
    found = [(each.name, each.weight, each.share) for each in _found(build, rows, head)]
    assert found == [("Cyprus (CY)", 3 << 15, 1.0), ("Europe, no country", 1 << 14, 1.0)]


def test_the_largest_are_shown(build: Build) -> None:
    rows = [f"20.{at}.0.0/{17 + at % 8},US,,{at},{at}" for at in range(30)]
    sizes = [found.weight for found in _found(build, rows)]
    assert sizes == sorted((2 ** (15 - at % 8) for at in range(30)), reverse=True)[:20]


def test_coordinates_are_no_finer_than_a_cell(build: Build) -> None:
    rows = ["20.0.0.0/24,US,,37.7511,-97.8221", "20.1.0.0/24,US,,37.7512,-97.8222"]
    one, other = _found(build, rows)
    assert (one.latitude, one.longitude) == (other.latitude, other.longitude)
    assert one.latitude == pytest.approx(37.7511, abs=0.01)
