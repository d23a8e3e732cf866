"""The section on licences: whom to credit for a dataset, and where to read more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geolookup.dataset.metadata import Metadata, Source
from geolookup.errors import line_text
from geolookup.pictures import texts
from geolookup.reports.charts_section import charts_section
from geolookup.reports.section import Section
from geolookup.reports.table import Link, Table, link

_NOTE = (
    "Keep these credits where you publish the dataset or its answers. The recipe states them for "
    "the sources. A reference table completes what the sources state about a country."
)
_HEAD = ("Source", "format", "date", "licence", "attribution", "URL")


def licences_section(metadata: Metadata) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    rows = [*_sources(metadata.sources), *_credits(metadata.credits)]
    table = Table("Sources and their licences", _HEAD, rows, range(1, len(_HEAD)))
    return charts_section("licences", "Licences", _NOTE, [], [table])


def _sources(sources: Sequence[Source]) -> Iterator[tuple[str | Link, ...]]:
    for number, each in enumerate(sources, 1):
        stated = (each.date, each.licence, each.attribution)
        words = (line_text(text) if text else "not stated" for text in stated)
        name, address = f"{number}. {texts.name(each.name)}", each.url or "not stated"
        yield name, texts.name(each.format), *words, link(address)


def _credits(stated: Sequence[Mapping[str, str]]) -> Iterator[tuple[str | Link, ...]]:
    for each in stated:
        words = (line_text(each[member]) for member in ("licence", "attribution"))
        yield texts.name(each["name"]), "reference table", "", *words, link(each["url"])
