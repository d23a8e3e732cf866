"""The section with a dataset in a few figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY
from geolookup.dataset.coverage import public_space
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Section


class Figure(NamedTuple):
    """A number in large type, its name, and a line below it."""

    name: str
    value: str
    note: str


def summary_section(facts: Facts) -> Section:
    """Return how much a dataset knows, and how old it is."""
    return Section("summary", "Summary", "summary.html", {"figures": list(_figures(facts))})


def _figures(facts: Facts) -> Iterator[Figure]:
    counts = facts.metadata.counts
    for family, space in facts.space.items():
        yield _known(family, space.space, counts[f"ipv{family}_intervals"])
    # Not the rows of the table: a country may have several, and a row no country.
    codes = pc.count_distinct(facts.tables[COUNTRY]["country_code"]).as_py()
    yield Figure("Countries", wording.count(codes), "and territories")
    yield Figure("Locations", wording.count(counts["locations"]), "distinct")
    yield Figure("Networks", wording.count(counts["networks"]), "distinct")
    yield _age(facts)


def _known(family: int, space: float, intervals: int) -> Figure:
    note = count_text(intervals, "range")
    share = wording.percent(space / public_space(family))
    if family == 4:
        of = f"{share} of public space, in {note}"
        return Figure("IPv4 addresses known", wording.short(space), of)
    return Figure("IPv6 space known", share, f"of 2000::/3, all that is assigned; in {note}")


def _age(facts: Facts) -> Figure:
    age = facts.metadata.age
    if age.days is None:
        return Figure("Age of the data", "unknown", "no deciding source has an ISO 8601 date")
    note = f"oldest source: {wording.name(str(age.source))}, {age.date}"
    return Figure("Age of the data", count_text(age.days, "day"), note)
