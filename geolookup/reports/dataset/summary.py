"""The sections on what a dataset knows: a few figures, the depth of locations, unknown fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY
from geolookup.dataset.coverage import KnownAddresses, public_space
from geolookup.dataset.intervals import UNIT_ADDRESSES
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import LEVELS, finest_levels
from geolookup.reports.section import Section, Table, charts_section

_NOTE = "IPv4: shares of the public addresses. IPv6: shares of the known addresses."
_METHOD = (
    "Most of IPv6 is not assigned, so only its known addresses count. Special-purpose space does "
    "not count, although private own columns can be known in it."
)


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


def coverage_section(facts: Facts) -> Section:
    """Return the depth of locations and the share of each field that is unknown, by family."""
    return charts_section(
        "coverage", "Coverage", _NOTE, [_depth_chart(facts)], [_null_table(facts)], method=_METHOD
    )


def _depth_chart(facts: Facts) -> Chart:
    rows = [f"IPv{family}" for family in facts.space]
    shares = [_depth_shares(facts, space) for space in facts.space.values()]
    return stacked_bars("depth", "Finest known level of the location", rows, LEVELS, shares)


def _depth_shares(facts: Facts, space: KnownSpace) -> list[float]:
    """Return the share of a family's addresses whose location goes to each of ``LEVELS``."""
    of, finest = facts.coverage[f"ipv{space.family}"].of, finest_levels(facts.tables)
    # Row 0 is unknown.
    sums = np.bincount(finest[1:], space.locations[1:], len(LEVELS))
    unit = UNIT_ADDRESSES[space.family]
    return [float(amount) * unit / of if of else 0.0 for amount in sums]


def _null_table(facts: Facts) -> Table:
    """Return the share without a value of each field, the least known ones first."""
    counts = list(facts.coverage.values())
    shares = {path: [_without(of, path) for of in counts] for path in counts[0].with_value}
    order = sorted(shares, key=lambda path: shares[path], reverse=True)
    rows = [(wording.field_name(path), *map(wording.percent, shares[path])) for path in order]
    return Table("Share without a value, by field", ("Field", "IPv4", "IPv6"), rows)


def _without(counts: KnownAddresses, path: str) -> float:
    # Of integers: a float would lose a few of many addresses.
    return (counts.of - counts.with_value[path]) / counts.of if counts.of else 1.0
