"""The section on coverage: how deep locations go, and unknown fields."""

from __future__ import annotations

import numpy as np

from geolookup.dataset.coverage import KnownAddresses
from geolookup.dataset.intervals import UNIT_ADDRESSES
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import LEVELS, finest_levels
from geolookup.reports.section import Section, Table, charts_section

_NOTE = (
    "IPv4: shares of the public addresses. IPv6: shares of the known addresses, because most of "
    "the space is not assigned."
)
_OWN_NOTE = "Special-purpose space does not count, where private own columns may be known too."


def coverage_section(facts: Facts) -> Section:
    """Return the depth of locations and the share of each field that is unknown, by family."""
    own = [_OWN_NOTE] if facts.dataset.schema.private_layers else []
    return charts_section(
        "coverage", "Coverage", " ".join([_NOTE, *own]), [_null_table(facts), _depth_chart(facts)]
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
    rows = [(path, *map(wording.percent, shares[path])) for path in order]
    return Table("Share without a value, by field", ("Field", "IPv4", "IPv6"), rows)


def _without(counts: KnownAddresses, path: str) -> float:
    # Of integers: a float would lose a few of many addresses.
    return (counts.of - counts.with_value[path]) / counts.of if counts.of else 1.0
