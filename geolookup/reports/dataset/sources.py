"""The sections on sources: what each decides, how old it is, and whom to credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.manifest import OLD_AFTER
from geolookup.dataset.metadata import Metadata, Source, data_age
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, stacked_bars
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Link, Section, Table, charts_section, link

_NOTE = (
    "Sources are numbered in order of precedence: in each layer, the first source that knows an "
    "address decides. IPv4: shares of the public addresses. IPv6: shares of the known addresses."
)
_PRIVATE_NOTE = (
    "Private own columns are known in special-purpose space too: their shares are of the "
    "addresses that have them."
)
_UNKNOWN = "not stated"


def sources_section(facts: Facts) -> Section:
    """Return the age of each source, and what it decides by layer."""
    sources = {
        f"{at}. {source.origin}": source for at, source in enumerate(facts.metadata.sources, 1)
    }
    private = [_PRIVATE_NOTE] if facts.dataset.schema.private_layers else []
    note = " ".join([_NOTE, *private])
    ages = _ages(sources)
    charts = [
        *([ages] if ages.rows else []),
        *(_deciding(facts, sources, family) for family in facts.space),
    ]
    return charts_section("sources", "Sources", note, charts)


def _days(source: Source) -> int | None:
    return data_age([(source.name, source.date)]).days


def _ages(sources: Mapping[str, Source]) -> Chart:
    days = {name: _days(source) for name, source in sources.items()}
    values = [(name, age) for name, age in days.items() if age is not None]
    undated = [(name, _UNKNOWN) for name, age in days.items() if values and age is None]
    title = f"Age of sources in days; old after {OLD_AFTER}"
    chart = bars("source-ages", title, "days", values, head="source")
    return replace(chart, rows=[*chart.rows, *undated])


def _deciding(facts: Facts, sources: Mapping[str, Source], family: int) -> Chart:
    layers = list(facts.metadata.coverage)
    shares = [
        [_share(facts, source, layer, family) for source in sources.values()] for layer in layers
    ]
    title = f"IPv{family}: deciding source, by layer"
    rows = [_words(layer) for layer in layers]
    return stacked_bars(f"provenance-ipv{family}", title, rows, list(sources), shares)


def _share(facts: Facts, source: Source, layer: str, family: int) -> float:
    """Return the share that a source decides of the addresses that a layer can have."""
    part = f"ipv{family}"
    private = layer in facts.dataset.schema.private_layers
    of = facts.metadata.coverage[layer][part] if private else facts.coverage[part].of
    return source.coverage.get(layer, {}).get(part, 0) / (of or 1)


def _words(layer: str) -> str:
    """Return the name of a layer; own columns keep theirs."""
    return layer if layer.startswith(OWN_PREFIX) else layer.replace("_", " ")


_CREDIT_NOTE = (
    "Keep these credits where you publish the dataset or its answers. The recipe states them for "
    "the sources. A reference table completes what the sources state about a country."
)
_CREDIT_HEAD = ("Source", "format", "date", "licence", "attribution", "URL")


def licences_section(facts: Facts) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    return credits_section(facts.metadata)


def credits_section(metadata: Metadata) -> Section:
    """Return ``licences_section`` of a dataset's metadata."""
    rows = [*_source_credits(metadata.sources), *_table_credits(metadata.credits)]
    table = Table("Sources and their licences", _CREDIT_HEAD, rows, range(1, len(_CREDIT_HEAD)))
    return charts_section("licences", "Licences", _CREDIT_NOTE, [], [table])


def _source_credits(sources: Sequence[Source]) -> Iterator[tuple[str | Link, ...]]:
    for number, source in enumerate(sources, 1):
        texts = (source.date, source.licence, source.attribution)
        words = (line_text(text) if text else _UNKNOWN for text in texts)
        name, address = f"{number}. {wording.name(source.origin)}", source.url or _UNKNOWN
        yield name, wording.name(source.format), *words, link(address)


def _table_credits(tables: Sequence[Mapping[str, str]]) -> Iterator[tuple[str | Link, ...]]:
    for table in tables:
        words = (line_text(table[member]) for member in ("licence", "attribution"))
        yield wording.name(table["name"]), "reference table", "", *words, link(table["url"])
