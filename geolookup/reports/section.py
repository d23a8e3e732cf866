"""A section of a page: charts and tables under a heading, or a template of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geolookup.errors import line_text
from geolookup.pictures.charts import Chart


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading of its own.

    ``template`` is a file of ``templates/``; it gets ``values`` by name. ``data`` is JSON for
    scripts, by the id of the element that holds it. ``scripts`` are files of ``assets/`` in the
    order in which they need each other, ``styles`` likewise. A page has each of these once.
    """

    anchor: str
    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A cell that leads to another page."""

    text: str
    href: str


def link(address: str) -> Link | str:
    """Return an http(s) URL as a link, other text as text."""
    line = line_text(address)
    return Link(line, line) if line.startswith(("https://", "http://")) else line


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a caption; the first cell of a row names it.

    ``words`` are the numbers of the columns whose cells are words, from 0; the others are numbers.
    The columns ``saved_only`` are hidden on the page: the saved CSV has them.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    words: Collection[int] = ()
    saved_only: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class Download:
    """A CSV file in the page, with a button to save it: text of JSON, zlib and base64."""

    caption: str
    file: str  # the id of its data


def charts_section(
    anchor: str,
    title: str,
    note: str,
    charts: Sequence[Chart | Table | Download],
    tables: Sequence[Table] = (),
    *,
    first: Sequence[Table] = (),
    details: Sequence[Table] = (),
) -> Section:
    """Return a section that shows charts, and tables after them.

    ``note`` is the sentence above them, ``first`` are tables before the charts, ``details``
    tables at the end that are closed until a reader opens them. A table among the charts stands
    beside the chart before it if the page is wide enough, and has its values.
    """
    values = {"note": note, "first": first, "charts": charts, "tables": tables, "details": details}
    return Section(anchor, title, "charts.html", values)
