"""The figures of a report against sums over all networks of the engine."""

from __future__ import annotations

import datetime as dt
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import MAX
from geolookup.dataset.files import Dataset
from geolookup.dataset.public_ranges import Ranges
from geolookup.reports.dataset.countries import Countries, _chart, countries_section, per_country
from geolookup.reports.dataset.coverage import coverage_section
from geolookup.reports.dataset.facts import read_facts
from geolookup.reports.dataset.known_space import _space
from geolookup.reports.dataset.networks import networks_section
from geolookup.reports.dataset.prefix_lengths import prefix_lengths_section
from geolookup.reports.dataset.sources import sources_section
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from tests.conftest import Build, build_at
from tests.datasets import SMALL
from tests.oracle import Source
from tests.range_strategies import as_csv, recipe, recipes
from tests.reports.shown import check_dataset, of_sections

#: Rows of one country at all depths, a country on two continents, a continent alone, an AS at two
#: places, one of two names, ranges that are no prefixes.
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
        *_, ages = sources_section(facts).values["charts"]
        assert [(name, age == "no date stated") for name, age in ages.rows] == shown
        *_, view = dataset_views(facts.dataset, facts.tables, 4, dt.date(2020, 1, 2))
        label = "up to 30 days" if date else "no date stated"
        assert view.name == "age"
        assert label in {view.labels[value] for value in view.values.tolist()}


def test_the_twenty_largest_countries_have_a_bar() -> None:
    space = np.arange(1.0, 31.0)
    found = Countries(space, space.astype(np.int64), space, space)
    chart = _chart(4, [f"Country {row}" for row in range(30)], found)
    assert [row[0] for row in chart.rows] == [f"Country {row}" for row in range(29, 9, -1)]


@given(st.lists(st.integers(0, MAX[6]), min_size=2, max_size=2).map(sorted))
def test_the_size_of_a_range_is_exact_to_16_digits(ends: list[int]) -> None:
    for first, last in (ends, ends[:1] * 2):
        high, low = np.array([divmod(each, 1 << 64) for each in (first, last)], np.uint64).T
        rows = np.zeros(1, np.uint32)
        found = _space(Ranges(6, high[:1], low[:1], high[1:], low[1:], rows, rows))
        assert found.tolist() == pytest.approx([(last - first + 1) / 2**64], rel=1e-15)
