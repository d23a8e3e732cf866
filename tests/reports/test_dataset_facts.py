"""The figures of a report against sums over all networks of the engine; places without a city."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from tests.conftest import Build, build_at
from tests.datasets import SMALL
from tests.internals.dataset import Dataset
from tests.internals.reports import (
    coverage_section,
    places_section,
    read_facts,
    summary_section,
)
from tests.oracle import Source
from tests.own_sources import own_dataset
from tests.range_strategies import as_csv, recipe, recipes
from tests.reports.shown import check_dataset, of_sections

#: Rows of one country at all depths, a country on two continents, only a continent, an AS at two
#: places, one of two names, ranges that are not prefixes, counts of 2^62 and of 3.0e18 networks.
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
4000::,7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,,NZ,,,,,
8000::,a9ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,,AU,,,,,
"""


def _check(dataset: Path) -> None:
    facts = read_facts(Dataset(dataset))
    check_dataset(of_sections([summary_section(facts), coverage_section(facts)]), dataset)


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


def test_coordinates_without_a_city(build: Build) -> None:
    rows = [
        "20.0.0.0/24,US,,37.751,-97.822",
        "20.0.2.0/23,US,,37.751,-97.822",
        "20.1.0.0/24,US,Wichita,37.751,-97.822",  # at the same place, with a city
        "21.0.0.0/24,US,Boston,42.3,-71.1",
        "22.0.0.0/25,CA,,56,-106",
        "23.0.0.0/24,BR,,,",  # no coordinates
        "24.0.0.0/24,CH,,46.2,6.1",
        "24.1.0.0/25,FR,,46.2,6.1",  # the same place, in another country
    ]
    head = "network,country_code,city_name,latitude,longitude\n"
    facts = read_facts(Dataset(build({"rows.csv": head + "\n".join(rows) + "\n"})[0]))
    assert of_sections([places_section(facts)])["Coordinates without a city"] == [
        ["United States (US)", "37.75", "-97.82", "768"],
        ["Switzerland (CH)", "46.20", "6.10", "256"],
        ["Canada (CA)", "56.00", "-106.00", "128"],
        ["France (FR)", "46.20", "6.10", "128"],
    ]


def test_own_columns_are_in_coverage() -> None:
    facts = read_facts(Dataset(own_dataset()))
    # Of 3,702,258,689 public addresses, 16,777,216 have a share.
    fields = of_sections([coverage_section(facts)])["Share without a value, by field"]
    assert ["own.share", "99.55 %", "100.00 %"] in fields
