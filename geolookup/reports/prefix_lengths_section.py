"""The section on prefixes: how many of each length the intervals of a dataset make."""

from __future__ import annotations

from geolookup.pictures.charts import Chart, histogram
from geolookup.reports.charts_section import charts_section
from geolookup.reports.dataset_facts import Facts
from geolookup.reports.known_space import KnownSpace
from geolookup.reports.section import Section

_NOTE = (
    "An interval is a range of addresses with one answer. These are the fewest aligned prefixes "
    "that make the intervals of which anything is known."
)


def prefix_lengths_section(facts: Facts) -> Section:
    """Return the number of prefixes of each length, by family."""
    charts = [_chart(space) for space in facts.space.values()]
    return charts_section("prefix-lengths", "Prefix lengths", _NOTE, charts)


def _chart(space: KnownSpace) -> Chart:
    found = space.lengths.tolist()
    total, family = sum(found), space.family
    # Nothing is as wide as a family, and few intervals of IPv6 are as narrow as an address.
    values = [(f"/{length}", number) for length, number in enumerate(found)]
    title = f"IPv{family}: {total:,} prefixes by length"
    return histogram(f"prefix-lengths-ipv{family}", title, "prefix length", "prefixes", values)
