"""The section on sources and their licences: whom to credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geolookup.dataset.metadata import Metadata, Source
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.reports.section import Link, Section, Table, charts_section, link

_NOTE = "Keep these credits where you publish the dataset or its answers."
_METHOD = (
    "Sources are numbered in order of precedence: in each layer, the first source that knows an "
    "address decides. The recipe states the credits of sources. A reference table completes what "
    "the sources state about a country."
)
_UNKNOWN = "not stated"
_HEAD = ("Source", "format", "date", "licence", "attribution", "URL")


def credits_section(metadata: Metadata) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    rows = [*_source_credits(metadata.sources), *_table_credits(metadata.credits)]
    table = Table("Sources and their licences", _HEAD, rows, (1, 3, 4, 5))
    return charts_section("licences", "Sources and licences", _NOTE, [], [table], method=_METHOD)


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
