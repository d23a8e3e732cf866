"""Sections of charts, with tables around or beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from geolookup.pictures.charts import Chart
from geolookup.pictures.files import Picture
from geolookup.reports.section import Section
from geolookup.reports.table import Table


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
    """Return a section that shows each chart beside its table, where there is room."""
    values = {"note": note, "pairs": pairs}
    pictures = _pictures(chart for chart, _ in pairs)
    return Section(anchor, title, "pairs.html", values, pictures=pictures)


def _pictures(charts: Iterable[Chart]) -> Iterator[Picture]:
    return (Picture(chart.name, chart.picture_svg()) for chart in charts if chart.rows)
