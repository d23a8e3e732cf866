"""The section on coverage: how deep locations go, unknown fields, and lengths of prefixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from geolookup.dataset.coverage import KnownAddresses
from geolookup.dataset.intervals import UNIT_ADDRESSES
from geolookup.errors import count_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, histogram, stacked_bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import LEVELS, finest_levels
from geolookup.reports.section import Section, charts_section

_NOTE = (
    "IPv4: shares of the public addresses. IPv6: shares of the known addresses, because most of "
    "the space is not assigned. A bar stands for all fields with the same share: + 2 for two more."
)
_OWN_NOTE = "Special-purpose space does not count, where private own columns may be known too."
_LENGTHS_NOTE = "The fewest prefixes that hold each range of addresses with one answer."


def coverage_section(facts: Facts) -> Section:
    """Return the depth of locations and the share of each field that is unknown, by family."""
    charts = [_depth_chart(facts), *(_null_chart(facts, family) for family in facts.space)]
    own = [_OWN_NOTE] if facts.dataset.schema.private_layers else []
    return charts_section("coverage", "Coverage", " ".join([_NOTE, *own]), charts)


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


def _null_chart(facts: Facts, family: int) -> Chart:
    counts = facts.coverage[f"ipv{family}"]
    values = [(label, _without(counts, path)) for path, label in _alike(facts.coverage).items()]
    title = f"IPv{family}: share without a value, by field"
    chart = bars(f"nulls-ipv{family}", title, "share", values, form=wording.percent, head="field")
    rows = [(path, wording.percent(_without(counts, path))) for path in counts.with_value]
    return replace(chart, rows=rows)


def _without(counts: KnownAddresses, path: str) -> float:
    # Of integers: a float would lose a few of many addresses.
    return (counts.of - counts.with_value[path]) / counts.of if counts.of else 1.0


def _alike(by_family: Mapping[str, KnownAddresses]) -> dict[str, str]:
    """Return the first of the fields with the same shares in both families, and their label."""
    groups: dict[tuple[float, ...], list[str]] = {}
    for path in by_family["ipv4"].with_value:
        shares = tuple(round(_without(counts, path), 4) for counts in by_family.values())
        groups.setdefault(shares, []).append(path)
    return {path: _label(path, len(more)) for path, *more in groups.values()}


def _label(path: str, more: int) -> str:
    name = path.removeprefix("location.").removeprefix("network.")
    return f"{name} + {more}" if more else name


def prefix_lengths_section(facts: Facts) -> Section:
    """Return the number of prefixes of each length, by family."""
    charts = [_length_chart(space) for space in facts.space.values()]
    return charts_section("prefix-lengths", "Prefix lengths", _LENGTHS_NOTE, charts)


def _length_chart(space: KnownSpace) -> Chart:
    used = np.flatnonzero(space.lengths)
    lengths = range(used[0], used[-1] + 1) if len(used) else range(0)
    values = [(f"/{length}", int(space.lengths[length])) for length in lengths]
    family, total = space.family, int(space.lengths.sum())
    title = f"IPv{family}: {count_text(total, 'prefix', 'prefixes')} by length"
    return histogram(f"prefix-lengths-ipv{family}", title, "prefix length", "prefixes", values)
