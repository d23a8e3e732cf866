"""Tables of a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from geolookup.errors import line_text


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to another page."""

    text: str
    href: str


def link(address: str) -> Link | str:
    """Return an address as a link, or as text where it is none of the web."""
    line = line_text(address)
    return Link(line, line) if line.startswith(("https://", "http://")) else line


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a caption; the first cell of a row names it.

    ``words`` are the numbers of the columns whose cells are words, from 0; the others are numbers.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    words: Collection[int] = ()
