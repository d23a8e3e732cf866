"""A section of a page: its template and values, tables, and charts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geolookup.errors import line_text
from geolookup.pictures.charts import Chart
from geolookup.pictures.picture_files import Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading of its own.

    ``template`` is a file of ``templates/``; it gets ``values`` by name. ``data`` is JSON for
    scripts, by the id of the element that holds it. ``scripts`` are files of ``assets/`` in the
    order in which they need each other, ``styles`` likewise. A page has each of these once.
    ``pictures`` are what ``--png`` writes of the section; an iterator draws them only then.
    """

    anchor: str
    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()
    pictures: Iterable[Picture] = ()


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


def counts_to_hide(family: int, *columns: int) -> Sequence[int]:
    """Return the columns with counts of a family if they are of IPv6: only shares are readable."""
    return columns if family == 6 else ()


#: A cell of nothing: no count, no share, no distance.
_ZEROS = {"", "0", "0.0", "0.00 %"}


def without_zeros(table: Table) -> Table:
    """Return a table without the rows and the columns whose numbers are all zero."""
    numeric = {*range(1, len(table.head))} - {*table.words}
    rows = [row for row in table.rows if any(row[at] not in _ZEROS for at in numeric)]
    zeros = {at for at in numeric if all(row[at] in _ZEROS for row in rows)}
    columns = [at for at in range(len(table.head)) if at not in zeros]
    return Table(
        table.caption,
        [table.head[at] for at in columns],
        [[row[at] for at in columns] for row in rows],
        [number for number, at in enumerate(columns) if at in table.words],
        [number for number, at in enumerate(columns) if at in table.saved_only],
    )


def charts_section(
    anchor: str,
    title: str,
    note: str,
    charts: Sequence[Chart],
    tables: Sequence[Table] = (),
    *,
    first: Sequence[Table] = (),
    details: Sequence[Table] = (),
) -> Section:
    """Return a section that shows charts, and tables after them.

    ``note`` is the sentence above them, ``first`` are tables before the charts, ``details``
    tables at the end that are closed until a reader opens them.
    """
    values = {"note": note, "first": first, "charts": charts, "tables": tables, "details": details}
    return Section(anchor, title, "charts.html", values, pictures=_pictures(charts))


def pairs_section(
    anchor: str, title: str, note: str, pairs: Sequence[tuple[Chart, Table]]
) -> Section:
    """Return a section that shows each chart beside its table if the page is wide enough."""
    values = {"note": note, "pairs": pairs}
    pictures = _pictures(chart for chart, _ in pairs)
    return Section(anchor, title, "pairs.html", values, pictures=pictures)


def _pictures(charts: Iterable[Chart]) -> Iterator[Picture]:
    return (Picture(chart.name, chart.picture_svg()) for chart in charts if chart.rows)
