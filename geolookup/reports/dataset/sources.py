"""The section on sources: what each decides, and how old it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from geolookup.dataset.intervals import UNIT_ADDRESSES, UNITS
from geolookup.dataset.manifest import OLD_AFTER
from geolookup.dataset.metadata import Source, data_age
from geolookup.pictures import texts
from geolookup.pictures.charts import Chart, bars, stacked
from geolookup.reports.charts_section import charts_section
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Section
from geolookup.reports.table import Table

_NOTE = (
    "Sources are numbered in order of precedence: in each layer, the first source that knows an "
    "address decides. IPv4: shares of the public addresses. IPv6: shares of the addresses of "
    "which anything is known."
)


def sources_section(facts: Facts) -> Section:
    """Return provenance by layer and the ages of the sources."""
    sources = _numbered(facts.metadata.sources)
    charts = [_provenance(facts, sources, family) for family in ("ipv4", "ipv6")]
    charts.append(_ages(sources))
    return charts_section("sources", "Sources", _NOTE, charts, [_decides(sources)])


def _numbered(sources: Sequence[Source]) -> dict[str, Source]:
    """Return the sources by a name that is theirs alone."""
    return {f"{number}. {each.name}": each for number, each in enumerate(sources, 1)}


def _provenance(facts: Facts, sources: Mapping[str, Source], family: str) -> Chart:
    layers, of = list(facts.metadata.coverage), facts.known[family].of or 1
    shares = [
        [each.coverage.get(layer, {}).get(family, 0) / of for each in sources.values()]
        for layer in layers
    ]
    title = f"{texts.family(family)}: deciding source, by layer"
    rows = [_words(layer) for layer in layers]
    return stacked(f"provenance-{family}", title, rows, list(sources), shares)


def _ages(sources: Mapping[str, Source]) -> Chart:
    days = {name: data_age([(name, each.date)]).days for name, each in sources.items()}
    values = [(name, age) for name, age in days.items() if age is not None]
    undated = [(name, "no date stated") for name, age in days.items() if values and age is None]
    title = f"Age of sources in days; the line marks {OLD_AFTER} days"
    chart = bars("source-ages", title, "days", values, head="source", limit=OLD_AFTER)
    return replace(chart, rows=[*chart.rows, *undated])


def _decides(sources: Mapping[str, Source]) -> Table:
    head = ("Source", "layer", *(f"IPv{family} {unit}" for family, unit in UNITS.items()))
    rows = [
        (texts.name(name), _words(layer), *_counts(count))
        for name, source in sources.items()
        for layer, count in source.coverage.items()
    ]
    return Table("What each source decides", head, rows, (1,))


def _counts(addresses: Mapping[str, int]) -> Iterator[str]:
    for family, unit in UNIT_ADDRESSES.items():
        yield texts.count(addresses.get(f"ipv{family}", 0) / unit)


def _words(layer: str) -> str:
    return layer.replace("_", " ")
