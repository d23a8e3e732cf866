"""The sections on a dataset: a few figures, the largest groups, unknown fields, its sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY
from geolookup.dataset.coverage import KnownAddresses, public_space
from geolookup.dataset.intervals import UNITS, sizes
from geolookup.dataset.metadata import Metadata, Source
from geolookup.errors import count_text, line_text
from geolookup.pictures import wording
from geolookup.pictures.address_space import UNKNOWN, View
from geolookup.pictures.charts import Chart
from geolookup.reports.dataset.views import Facts
from geolookup.reports.section import Cell, Section, Table, charts_section, link, linked, ranking

#: The most rows of the table of values, such as countries.
_ROWS = 300
#: The views of the address maps whose labels are ranked, and the noun for one label.
_RANKED = {"country": "country", "as": "AS", "source": "source of the location"}
_NOTE = "The table has the share of addresses without a value, by field."
_METHOD = (
    "Charts: shares of the addresses with a known country, AS or location; IPv6 is counted in /64 "
    "networks. "
    "Table: IPv4 in shares of the public addresses, IPv6 of the known addresses, because most of "
    "IPv6 is not assigned. Special-purpose space does not count, although private own columns can "
    "be known in it."
)
_CREDITS_NOTE = "Keep these credits where you publish the dataset or its answers."
_CREDITS_METHOD = (
    "Sources are numbered in order of precedence: in each layer, the first source that knows an "
    "address decides. The recipe states the credits of sources. A reference table completes what "
    "the sources state about a country."
)
_NOT_STATED = "not stated"
_CREDITS = ("Source", "format", "date", "licence", "attribution", "URL")


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
        yield _known(family, float(space.sum()), counts[f"ipv{family}_intervals"])
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
    """Return the groups with the most addresses, and the unknown share of each field."""
    views = [view for several in facts.views.values() for view in several]
    charts = [_largest(view) for name in _RANKED for view in views if view.name == name]
    drawn, tables = [chart for chart in charts if chart.rows], [_null_table(facts)]
    return charts_section("coverage", "Coverage", _NOTE, drawn, tables, method=_METHOD)


def _largest(view: View) -> Chart:
    """Return the labels of a view with the most addresses."""
    family = view.starts.family
    weights = np.bincount(view.values, sizes(view.starts), len(view.labels)).tolist()
    known = slice(UNKNOWN + 1, None)
    rows = [*zip(view.labels[known], weights[known], strict=True)]
    one = _RANKED[view.name]
    title, heads = f"IPv{family} {UNITS[family]} by {one}", (one, UNITS[family], "share")
    return ranking(f"ipv{family}-{view.name}", title, heads, rows[:_ROWS], sum(weights[known]))


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


def credits_section(metadata: Metadata) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    rows = [*_source_credits(metadata.sources), *_table_credits(metadata.credits)]
    table = Table("Sources and their licences", _CREDITS, rows, (1, 3, 4, 5))
    return charts_section(
        "licences", "Sources and licences", _CREDITS_NOTE, [], [table], method=_CREDITS_METHOD
    )


def _source_credits(sources: Sequence[Source]) -> Iterator[tuple[Cell, ...]]:
    for number, source in enumerate(sources, 1):
        words = (line_text(text) if text else _NOT_STATED for text in (source.date, source.licence))
        name, address = f"{number}. {wording.name(source.origin)}", source.url or _NOT_STATED
        credit = linked(source.attribution or _NOT_STATED)
        yield name, wording.name(source.format), *words, credit, link(address)


def _table_credits(tables: Sequence[Mapping[str, str]]) -> Iterator[tuple[Cell, ...]]:
    for table in tables:
        words = line_text(table["licence"]), linked(table["attribution"])
        yield wording.name(table["name"]), "reference table", "", *words, link(table["url"])
