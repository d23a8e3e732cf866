"""The section on prefixes: how many of each length the intervals of a dataset make."""

from __future__ import annotations

import numpy as np

from geolookup.pictures.charts import Chart, histogram
from geolookup.reports.charts_section import charts_section
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.known_space import KnownSpace
from geolookup.reports.section import Section

_NOTE = (
    "An interval is a range of addresses with one answer. The charts count the fewest prefixes "
    "that make up the intervals of which anything is known."
)


def prefix_lengths_section(facts: Facts) -> Section:
    """Return the number of prefixes of each length, by family."""
    charts = [_chart(space) for space in facts.space.values()]
    return charts_section("prefix-lengths", "Prefix lengths", _NOTE, charts)


def _chart(space: KnownSpace) -> Chart:
    there = np.flatnonzero(space.lengths)
    lengths = range(there[0], there[-1] + 1) if len(there) else range(0)
    values = [(f"/{length}", int(space.lengths[length])) for length in lengths]
    family, total = space.family, int(space.lengths.sum())
    title = f"IPv{family}: {total:,} prefixes by length"
    return histogram(f"prefix-lengths-ipv{family}", title, "prefix length", "prefixes", values)
