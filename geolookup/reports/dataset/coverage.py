"""The section on coverage: how deep locations go, and the share of each field that is null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from geolookup.dataset.coverage import KnownAddresses
from geolookup.dataset.intervals import UNIT_ADDRESSES
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, stacked_bars
from geolookup.reports.dataset.facts import Facts, KnownSpace
from geolookup.reports.dataset.row_names import LEVELS, finest_levels
from geolookup.reports.section import Section, charts_section

_NOTE = (
    "IPv4: shares of the public addresses. IPv6: shares of the known addresses, "
    "because most of the space is not assigned. Fields with equal shares have one bar: "
    "+ 2 stands for two more fields."
)
_OWN_NOTE = "Special-purpose space does not count, where private own columns may be known too."


def coverage_section(facts: Facts) -> Section:
    """Return the depth of locations and the null share of each field, by family."""
    charts = [_depth_chart(facts), *(_null_chart(facts, family) for family in (4, 6))]
    own = [_OWN_NOTE] if facts.dataset.schema.private_layers else []
    return charts_section("coverage", "Coverage", " ".join([_NOTE, *own]), charts)


def depth_shares(facts: Facts, space: KnownSpace) -> list[float]:
    """Return the share of a family's addresses whose location goes to each of ``LEVELS``."""
    of, finest = facts.coverage[f"ipv{space.family}"].of, finest_levels(facts.tables)
    # Row 0 is unknown.
    sums = np.bincount(finest[1:], space.locations.space[1:], len(LEVELS))
    unit = UNIT_ADDRESSES[space.family]
    return [float(amount) * unit / of if of else 0.0 for amount in sums]


def _depth_chart(facts: Facts) -> Chart:
    rows = [f"IPv{family}" for family in facts.space]
    shares = [depth_shares(facts, space) for space in facts.space.values()]
    return stacked_bars("depth", "Finest known level of the location", rows, LEVELS, shares)


def _null_chart(facts: Facts, family: int) -> Chart:
    counts = facts.coverage[f"ipv{family}"]
    values = [(_label(paths), _without(counts, paths[0])) for paths in _alike(facts.coverage)]
    title = f"IPv{family}: share without a value, by field"
    chart = bars(f"nulls-ipv{family}", title, "share", values, form=wording.percent, head="field")
    return replace(chart, rows=[(path, _null(counts, path)) for path in counts.with_value])


def _null(counts: KnownAddresses, path: str) -> str:
    return wording.percent(_without(counts, path))


def _without(counts: KnownAddresses, path: str) -> float:
    # Of integers: a float would lose a few of many addresses.
    return (counts.of - counts.with_value[path]) / counts.of if counts.of else 1.0


def _alike(by_family: Mapping[str, KnownAddresses]) -> list[list[str]]:
    """Return the fields, those together whose shares read the same in both families."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in by_family["ipv4"].with_value:
        shares = tuple(_null(of_family, path) for of_family in by_family.values())
        groups.setdefault(shares, []).append(path)
    return list(groups.values())


def _label(paths: Sequence[str]) -> str:
    more = f" + {len(paths) - 1}" if len(paths) > 1 else ""
    return _short(paths[0]) + more


def _short(path: str) -> str:
    return path.removeprefix("location.").removeprefix("network.")
