"""A country with several rows in the table, and places without a country, in a report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.files import Dataset
from geolookup.pictures.views import FIRST
from geolookup.reports.dataset.countries import per_country
from geolookup.reports.dataset.default_coordinates import find_default_coordinates
from geolookup.reports.dataset.facts import Facts, read_facts
from geolookup.reports.dataset.row_names import countries
from geolookup.reports.dataset.summary import summary_section
from geolookup.reports.dataset.views import dataset_views
from tests.conftest import build_at

#: Cyprus on two continents, a continent alone, a time zone alone, and a region by its code alone.
ROWS = """network,continent_code,country_code,region_code,time_zone,latitude,longitude
20.0.0.0/16,EU,CY,,,35,33
20.1.0.0/17,AS,CY,,,35,33
20.2.0.0/18,EU,,,,50,10
20.3.0.0/19,,,,Europe/Berlin,,
20.4.0.0/20,,US,CA,,,
"""
CYPRUS, EUROPE, AMERICA = "Cyprus (CY)", "Europe, no country", "United States (US)"


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    dataset: Path = build_at(tmp_path_factory.mktemp("rows"), {"rows.csv": ROWS})[0]
    return read_facts(Dataset(dataset))


def test_a_country_on_two_continents_has_one_row(facts: Facts) -> None:
    names, _ = countries(facts.tables[COUNTRY])
    found = dict(zip(names, per_country(facts, facts.space[4]).space, strict=True))
    assert found == {"no country": 1 << 13, CYPRUS: 3 << 15, EUROPE: 1 << 14, AMERICA: 1 << 12}


def test_it_is_one_country_of_the_summary(facts: Facts) -> None:
    figures = {each.name: each.value for each in summary_section(facts).values["figures"]}
    assert figures["Countries"] == "2"


def test_the_address_map_has_it_once(facts: Facts) -> None:
    country, depth = dataset_views(facts.dataset, facts.tables, 4)[:2]
    assert country.labels == (*FIRST, CYPRUS, EUROPE, AMERICA)
    firsts = [20 << 24 | second << 16 for second in range(5)]
    rows = np.searchsorted(country.starts.low, firsts, "right") - 1
    shown = [(country.labels[country.values[at]], depth.labels[depth.values[at]]) for at in rows]
    assert shown == [
        (CYPRUS, "country"),
        (CYPRUS, "country"),
        (EUROPE, "no country"),
        ("unknown", "no country"),
        (AMERICA, "region"),
    ]


def test_its_default_coordinates_are_one_place(facts: Facts) -> None:
    found = find_default_coordinates(facts, coordinates(facts.tables[LOCATION]))
    wanted = [(CYPRUS, 3 << 15, 1.0), (EUROPE, 1 << 14, 1.0)]
    assert [(each.name, each.weight, each.share) for each in found] == wanted
