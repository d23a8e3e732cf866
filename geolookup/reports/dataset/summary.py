"""The section that comes first: what a dataset is, in a few figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY
from geolookup.dataset.intervals import UNITS
from geolookup.dataset.metadata import Age
from geolookup.pictures import texts
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Section


class Figure(NamedTuple):
    """A number in large type: what it counts, and a line below it."""

    name: str
    value: str
    note: str


def summary_section(facts: Facts) -> Section:
    """Return the name, generation, size and age of a dataset, and how much it knows."""
    named = {"Name": texts.name(facts.metadata.name), "Generation": facts.metadata.generation}
    values = {"figures": list(_figures(facts)), "named": named}
    return Section("summary", "Summary", "summary.html", values)


def _figures(facts: Facts) -> Iterator[Figure]:
    counts = facts.metadata.counts
    for family, space in facts.space.items():
        of = facts.known["ipv4"].of
        share = f"{texts.percent(space.space / of)} of public space" if family == 4 else ""
        intervals = f"{texts.count(counts[f'ipv{family}_intervals'])} intervals"
        note = "; ".join(filter(None, (share, intervals)))
        yield Figure(f"IPv{family} {UNITS[family]} known", texts.short(space.space), note)
    yield Figure("Locations", texts.count(counts["locations"]), "distinct")
    yield Figure("Networks", texts.count(counts["networks"]), "distinct")
    # Not the rows of the table: a country may have several, and a row no country.
    codes = pc.count_distinct(facts.tables[COUNTRY]["country_code"]).as_py()
    yield Figure("Countries", texts.count(codes), "and territories")
    size = facts.metadata.bytes
    yield Figure("Size", texts.size(size), f"{texts.count(size)} bytes")
    yield _age(facts.metadata.age)


def _age(age: Age) -> Figure:
    if age.days is None:
        return Figure("Age of the data", "unknown", "no source states a date")
    days = f"{age.days:,} day{'s' * (age.days != 1)}"
    return Figure(
        "Age of the data", days, f"oldest source: {texts.name(str(age.source))}, {age.date}"
    )
