"""A section of a page: charts and tables under a heading, or a template of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

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


#: A text, a link, or parts that stand side by side.
Cell: TypeAlias = str | Link | tuple[str | Link, ...]
#: A URL, or the name of a web site: ``db-ip.com``, but not the host of ``ann@db-ip.com``.
_SITE = re.compile(
    r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]"
    r"|(?<![\w.@/-])(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+(?:com|net|org)(?![\w@-]|\.\w)"
)


def linked(text: str) -> tuple[str | Link, ...]:
    """Return the parts of a credit: its URLs and names of web sites are links.

    Some licences demand a link: DB-IP's does where an answer is shown.
    """
    return tuple(_parts(line_text(text)))


def _parts(line: str) -> Iterator[str | Link]:
    end = 0
    for match in _SITE.finditer(line):
        yield line[end : match.start()]
        site = match[0]
        yield Link(site, site if site.startswith("http") else f"https://{site}")
        end = match.end()
    yield line[end:]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under a caption; the first cell of a row names it.

    ``words`` are the numbers of the columns whose cells are words, from 0; the others are numbers.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
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
