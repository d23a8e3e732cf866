"""The section on sources: what each decides, and whom to credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geolookup.contract.fields import OWN_PREFIX
from geolookup.dataset.metadata import Metadata, Source
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, stacked_bars
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Link, Section, Table, charts_section, link

_CREDIT = "Keep the credits where you publish the dataset or its answers."
_NOTE = f"In each layer, the first source that knows an address decides. {_CREDIT}"
_METHOD = (
    "Sources are numbered in order of precedence. Shares are of the addresses that have a value of "
    "the layer. The recipe states the credits of sources. A reference table completes what the "
    "sources state about a country."
)
_UNKNOWN = "not stated"
_CREDIT_HEAD = ("Source", "format", "date", "licence", "attribution", "URL")


def sources_section(facts: Facts) -> Section:
    """Return what each source decides by layer, and the credits."""
    names = [f"{at}. {source.origin}" for at, source in enumerate(facts.metadata.sources, 1)]
    charts = [_deciding(facts, names, family) for family in facts.space]
    credit = [_credits(facts.metadata)]
    return charts_section("sources", "Sources and licences", _NOTE, charts, credit, method=_METHOD)


def _deciding(facts: Facts, names: Sequence[str], family: int) -> Chart:
    part = f"ipv{family}"
    layers = {layer: of[part] for layer, of in facts.metadata.coverage.items() if of[part]}
    shares = [
        [source.coverage.get(layer, {}).get(part, 0) / of for source in facts.metadata.sources]
        for layer, of in layers.items()
    ]
    title = f"IPv{family}: deciding source, by layer"
    rows = [_words(layer) for layer in layers]
    return stacked_bars(f"provenance-ipv{family}", title, rows, names, shares)


def _words(layer: str) -> str:
    """Return the name of a layer; own columns keep theirs."""
    return layer if layer.startswith(OWN_PREFIX) else layer.replace("_", " ")


def credits_section(metadata: Metadata) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    return charts_section("licences", "Licences", _CREDIT, [], [_credits(metadata)])


def _credits(metadata: Metadata) -> Table:
    rows = [*_source_credits(metadata.sources), *_table_credits(metadata.credits)]
    return Table("Sources and their licences", _CREDIT_HEAD, rows, range(1, len(_CREDIT_HEAD)))


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
