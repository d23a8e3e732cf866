"""The section on sources: no source is missing from the table of ages."""

from __future__ import annotations

import pytest

from geolookup.dataset.files import Dataset
from geolookup.reports.dataset.facts import read_facts
from geolookup.reports.dataset.sources import sources_section
from tests.conftest import Build

_RECIPE = """[dataset]
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


@pytest.mark.parametrize("date", ['date = "2020-01-01"', ""])
def test_a_source_without_a_date_is_in_the_table_of_ages(build: Build, date: str) -> None:
    rows = "network,country_code\n9.0.0.0/8,US\n"
    dataset, _ = build({"a.csv": rows}, _RECIPE.format(date))
    *_, ages = sources_section(read_facts(Dataset(dataset))).values["charts"]
    if date:
        assert [name for name, _ in ages.rows] == ["1. first", "2. second"]
        assert ages.rows[1][1] == "no date stated"
    else:
        assert not ages.rows  # "Nothing to show."
