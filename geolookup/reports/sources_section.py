"""The section on sources: what each decides, how old it is, and whom to credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geolookup.dataset.manifest import OLD_AFTER
from geolookup.dataset.metadata import Metadata, Source, data_age
from geolookup.pictures import texts
from geolookup.pictures.charts import Chart, bars, stacked
from geolookup.reports.charts_section import charts_section
from geolookup.reports.dataset_facts import Facts
from geolookup.reports.section import Section
from geolookup.reports.table import Link, Table, link

_NOTE = (
    "Sources are numbered in order of precedence: in each layer the first one that knows an "
    "address decides. IPv4: shares of the public addresses. IPv6: shares of the addresses of "
    "which anything is known."
)


def sources_section(facts: Facts) -> Section:
    """Return provenance by layer, the ages of the sources, and the licences to credit."""
    sources = _numbered(facts.metadata.sources)
    charts = [_provenance(facts, sources, family) for family in ("ipv4", "ipv6")]
    charts.append(_ages(sources))
    tables = [_decides(sources), credits_table(facts.metadata)]
    return charts_section("sources", "Sources and licences", _NOTE, charts, tables)


def _numbered(sources: Sequence[Source]) -> dict[str, Source]:
    """Return the sources by a name that is theirs alone."""
    return {f"{number}. {each.name}": each for number, each in enumerate(sources, 1)}


def _provenance(facts: Facts, sources: Mapping[str, Source], family: str) -> Chart:
    layers, of = list(facts.metadata.coverage), facts.known[family].of or 1
    shares = [
        [each.coverage.get(layer, {}).get(family, 0) / of for each in sources.values()]
        for layer in layers
    ]
    title = f"Who decides {_family(family)} addresses, by layer"
    rows = [layer.replace("_", " ") for layer in layers]
    return stacked(f"provenance-{family}", title, rows, list(sources), shares)


def _family(name: str) -> str:
    return name.replace("ip", "IP")


def _ages(sources: Mapping[str, Source]) -> Chart:
    days = {name: data_age([(name, each.date)]).days for name, each in sources.items()}
    values = [(name, age) for name, age in days.items() if age is not None]
    title = f"Age of each source in days; after {OLD_AFTER} it is old"
    return bars("source-ages", title, "days", values, head="source", limit=OLD_AFTER)


def _decides(sources: Mapping[str, Source]) -> Table:
    head = ("Source", "layer", "IPv4 addresses", "IPv6 addresses")
    rows = [
        (texts.name(name), layer, *(texts.count(count.get(each, 0)) for each in ("ipv4", "ipv6")))
        for name, source in sources.items()
        for layer, count in source.coverage.items()
    ]
    return Table("Addresses that each source decides", head, rows, (1,))


def credits_table(metadata: Metadata) -> Table:
    """Return the sources of a dataset, their licences, and the attribution that they ask for."""
    sources = _numbered(metadata.sources)
    head = ("Source", "format", "date", "licence", "attribution", "address")
    rows = [*_source_rows(sources), *(_credit(each) for each in metadata.credits)]
    return Table("Sources and their licences", head, rows, range(1, len(head)))


def _source_rows(sources: Mapping[str, Source]) -> Iterator[tuple[str | Link, ...]]:
    for name, each in sources.items():
        stated = (each.date, each.licence, each.attribution)
        words = (texts.name(text) if text else "not stated" for text in stated)
        yield texts.name(name), each.format, *words, link(each.url or "not stated")


def _credit(credit: Mapping[str, str]) -> tuple[str | Link, ...]:
    licence, attribution = credit["licence"], credit["attribution"]
    return credit["name"], "reference table", "", licence, attribution, link(credit["url"])
