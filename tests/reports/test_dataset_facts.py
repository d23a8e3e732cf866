"""The figures of a report against sums over all networks of the engine; default coordinates."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.comparison.values import coordinates
from geolookup.contract.address import MAX
from geolookup.contract.fields import LOCATION
from geolookup.dataset.files import Dataset
from geolookup.dataset.public_ranges import Ranges
from geolookup.pictures.world import DefaultCoordinates
from geolookup.reports.dataset.coordinates import (
    coordinates_section,
    judge_rows,
    verdict_sums,
)
from geolookup.reports.dataset.countries import countries_section, per_country
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import read_facts, space_of
from geolookup.reports.dataset.located import find_default_coordinates
from geolookup.reports.dataset.network_sections import networks_section, prefix_lengths_section
from geolookup.reports.dataset.sources import age_shares, sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from tests.conftest import Build, build_at
from tests.datasets import SMALL
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
_SECTIONS = (summary_section, coverage_section, countries_section, networks_section,
             prefix_lengths_section)  # fmt: skip
_TWO_SOURCES = """[dataset]
name = "test"
[[source]]
format = "csv"
path = "a.csv"
name = "first"
{}
[[source]]
format = "csv"
path = "a.csv"
name = "second"
"""


def _check(dataset: Path) -> None:
    facts = read_facts(Dataset(dataset))
    check_dataset(of_sections(section(facts) for section in _SECTIONS), dataset)
    coverage = coverage_section(facts)
    assert coverage.title == "Coverage"
    for chart in coverage.values["charts"]:
        if chart.name.startswith("nulls-"):  # a bar names one field, and how many are like it
            names = [bar["name"] for bar in chart.spec["data"]["values"]]
            assert sum(1 + int(name.partition(" + ")[2] or 0) for name in names) == len(chart.rows)
    for space in facts.space.values():
        assert per_country(facts, space).intervals.sum() == space.locations.intervals.sum()


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


def test_a_source_without_a_date_is_in_the_table_of_ages(build: Build) -> None:
    for date, shown in (
        ('date = "2020-01-01"', [("1. first", False), ("2. second", True)]),
        ("", []),  # "Nothing to show."
    ):
        files = {"a.csv": "network,country_code\n9.0.0.0/8,US\n"}
        facts = read_facts(Dataset(build(files, _TWO_SOURCES.format(date))[0]))
        *_, ages, _ = sources_section(facts).values["charts"]
        assert [(name, age == "no date stated") for name, age in ages.rows] == shown
        *_, view = dataset_views(facts.dataset, facts.tables, 4, dt.date(2020, 1, 2))
        label = "up to 30 days" if date else "no date stated"
        assert view.name == "age"
        assert label in {view.labels[value] for value in view.values.tolist()}


@given(st.lists(st.integers(0, MAX[6]), min_size=2, max_size=2).map(sorted))
def test_the_size_of_a_range_is_exact_to_16_digits(ends: list[int]) -> None:
    for first, last in (ends, ends[:1] * 2):
        high, low = np.array([divmod(item, 1 << 64) for item in (first, last)], np.uint64).T
        result = space_of(Ranges(6, high[:1], low[:1], high[1:], low[1:], {}))
        assert result.tolist() == pytest.approx([(last - first + 1) / 2**64], rel=1e-15)


_HEAD = "network,country_code,city_name,latitude,longitude\n"


def _default_coordinates(
    build: Build, rows: list[str], head: str = _HEAD
) -> list[DefaultCoordinates]:
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
    result = _default_coordinates(build, rows)
    assert [(item.name, item.reason, item.weight, item.share) for item in result] == [
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
    actual = [
        (item.name, item.weight, item.share) for item in _default_coordinates(build, rows, head)
    ]
    assert actual == [("Cyprus (CY)", 3 << 15, 1.0), ("Europe, no country", 1 << 14, 1.0)]


def test_coordinates_are_compared_with_the_country(build: Build) -> None:
    rows = [
        "20.0.0.0/24,DE,Berlin,52.5,13.4",
        "20.0.1.0/24,FR,Paris,52.5,13.4",  # in Germany
        "20.0.2.0/25,FR,Strasbourg,48.58,7.75",
        "20.0.2.128/25,US,Ocean,30,-40",
        "20.1.0.0/24,,Nowhere,10,10",  # no country is stated
        "20.2.0.0/23,US,Boston,,",
        "2a00::/32,DE,Berlin,52.5,13.4",
    ]
    facts = read_facts(Dataset(build({"rows.csv": _HEAD + "\n".join(rows) + "\n"})[0]))
    judged = judge_rows(facts)
    assert verdict_sums(facts, judged, 4).tolist() == [384, 256, 128, 256]
    assert verdict_sums(facts, judged, 6).tolist() == [2**32, 0, 0, 0]
    section = coordinates_section(facts)
    assert (
        "66.67 % of the known IPv4 addresses have coordinates; 33.33 % of these"
        in (section.values["note"])
    )
    tables = of_sections([section])
    assert tables["Addresses whose coordinates lie in another country"] == [
        ["FR", "DE", "256", "100.00 %"]
    ]


def test_locations_by_the_age_of_their_source(build: Build) -> None:
    """9.0.0.0/9 has a source of 2020, three times as much has one of last week."""
    rows = "network,country_code\n9.0.0.0/9,US\n"
    others = "network,country_code\n20.0.0.0/8,DE\n24.0.0.0/9,DE\n2a00::/32,DE\n"
    recent = (dt.datetime.now(dt.UTC).date() - dt.timedelta(days=7)).isoformat()
    recipe = _TWO_SOURCES.format('date = "2020-01-01"').replace(
        'path = "a.csv"\nname = "second"', f'path = "b.csv"\nname = "second"\ndate = "{recent}"'
    )
    facts = read_facts(Dataset(build({"a.csv": rows, "b.csv": others}, recipe)[0]))
    assert age_shares(facts, "ipv4") == [0.75, 0, 0, 0, 0.25, 0]
    assert age_shares(facts, "ipv6") == [1, 0, 0, 0, 0, 0]
    section = sources_section(facts)
    stated = "older than 180 days decide the locations of 25.00 % of IPv4 and 0.00 % of IPv6:"
    assert stated in section.values["note"]
    assert of_sections([section])["Located addresses by the age of their source"] == [
        ["IPv4", "75.00 %", "0.00 %", "0.00 %", "0.00 %", "25.00 %", "0.00 %"],
        ["IPv6", "100.00 %", "0.00 %", "0.00 %", "0.00 %", "0.00 %", "0.00 %"],
    ]


def test_titles_state_the_share_that_is_known(build: Build) -> None:
    rows = "network,continent_code,country_code,asn\n20.0.0.0/24,NA,US,\n20.0.1.0/24,NA,,\n"
    rows += "20.0.2.0/23,NA,US,1\n"
    facts = read_facts(Dataset(build({"rows.csv": rows})[0]))
    (countries, _), *_ = countries_section(facts).values["pairs"]
    (networks, _), *_ = networks_section(facts).values["pairs"]
    assert countries.title == "Countries by IPv4 addresses, 75.00 % have a country"
    assert networks.title == "AS by IPv4 addresses, 50.00 % have an AS"
