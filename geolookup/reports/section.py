"""A section of a page: charts and tables under a heading, or a template of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars

#: The most bars of a ranking.
_BARS = 12


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
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Link]]
    words: Collection[int] = ()


def charts_section(
    anchor: str,
    title: str,
    note: str,
    charts: Sequence[Chart],
    tables: Sequence[Table] = (),
    *,
    details: Sequence[Table] = (),
    method: str = "",
) -> Section:
    """Return a section that shows charts, and tables after them.

    ``note`` is the sentence above them. At the end ``details``, tables, and ``method``, a
    paragraph, are closed until a reader opens them.
    """
    values = {
        "note": note,
        "charts": charts,
        "tables": tables,
        "details": details,
        "method": method,
    }
    return Section(anchor, title, "charts.html", values)


def ranking(
    name: str,
    title: str,
    heads: Sequence[str],
    rows: Iterable[tuple[str, float, *tuple[str, ...]]],
    whole: float,
) -> Chart:
    """Return bars of the largest shares of a whole; the table of their values has all rows.

    A row is a name, its weight, and texts of further columns. The heads are of the name, the
    weight, the share and the further columns.
    """
    listed = [row for row in rows if row[1]]
    shares = [(label, weight / whole) for label, weight, *_ in listed[:_BARS]]
    chart = bars(name, title, heads[2], shares, form=wording.percent)
    texts = [
        (wording.name(label), wording.count(weight), wording.percent(weight / whole), *further)
        for label, weight, *further in listed
    ]
    return replace(chart, head=heads, rows=texts)
