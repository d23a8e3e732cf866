"""The figures of a report against sums over all networks of the engine; default coordinates."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.conftest import Build, build_at
from tests.datasets import SMALL
from tests.internals.dataset import Dataset
from tests.internals.reports import (
    DefaultCoordinates,
    countries_section,
    coverage_section,
    find_default_coordinates,
    networks_section,
    read_facts,
    summary_section,
)
from tests.oracle import Source
from tests.range_strategies import as_csv, recipe, recipes
from tests.reports.shown import check_dataset, of_sections

#: Rows of one country at all depths, a country on two continents, only a continent, an AS at two
#: places, one of two names, ranges that are not prefixes.
MIXED = """first,last,continent_code,country_code,region_name,city_name,asn,asn_organization,isp
8.8.8.3,8.8.9.200,,US,,,64500,First,
8.8.9.201,8.8.9.255,,US,Texas,,64500,First,
8.8.10.0,8.8.10.255,,,US,,Austin,64500,Small,
8.8.11.0,8.8.11.255,,,US,Texas,Austin,64501,,
9.0.0.0,9.127.255.255,EU,,,,,,
9.128.0.0,9.255.255.255,,,,,,64501,Other,
2a00::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,,,DE,,Berlin,64500,First,
2a00:2::,2a00:2:7fff:ffff:ffff:ffff:ffff:ffff,,,DE,,,64500,First,
2a01::5,2a01::1:0:0:0:7,,FR,,,64502,Third,
11.0.0.0,11.0.0.255,,,,,64503,,a
11.0.1.0,11.0.1.127,,,,,64503,Named,a
11.0.2.0,11.0.2.63,,,,,64503,Other,a
11.0.3.0,11.0.3.79,,,,,64503,Other,b
20.0.0.0,20.0.255.255,EU,CY,,,,,
20.1.0.0,20.1.127.255,AS,CY,,,,,
"""
#: The sections whose tables state figures of a dataset.
_SECTIONS = (summary_section, coverage_section, countries_section, networks_section)


def _check(dataset: Path) -> None:
    facts = read_facts(Dataset(dataset))
    check_dataset(of_sections(section(facts) for section in _SECTIONS), dataset)
    coverage = coverage_section(facts)
    assert coverage.title == "Coverage"


def test_figures_are_sums_over_all_networks(tmp_path: Path) -> None:
    _check(SMALL)
    _check(build_at(tmp_path, {"a.csv": MIXED})[0])


@pytest.mark.long
@settings(max_examples=15)
@given(recipes)
def test_figures_of_random_datasets(listed: list[Source]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files: dict[str, str | bytes] = {f"{at}.csv": as_csv(s) for at, s in enumerate(listed)}
        _check(build_at(Path(folder), files, recipe(listed))[0])


_HEAD = "network,country_code,city_name,latitude,longitude\n"


def _default_coordinates(
    build: Build, rows: list[str], head: str = _HEAD
) -> list[DefaultCoordinates]:
    facts = read_facts(Dataset(build({"rows.csv": head + "\n".join(rows) + "\n"})[0]))
    return find_default_coordinates(facts)


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
    result = _default_coordinates(build, rows)
    assert [(item.name, item.reason, item.addresses, item.share) for item in result] == [
        ("Germany (DE)", "large share", 1024, 1024 / (1024 + 9 * 256)),
        ("United Kingdom (GB)", "large share", 1024, 0.25),
        ("United States (US)", "no city", 768, 0.6),
        ("Switzerland (CH)", "no city", 256, 1),
        ("Canada (CA)", "no city", 128, 1),
        ("France (FR)", "no city", 128, 1),
    ]
