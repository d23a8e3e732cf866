"""Sections of charts, with tables below or beside them."""

from __future__ import annotations

from collections.abc import Sequence

from geolookup.pictures.charts import Chart
from geolookup.pictures.files import Picture
from geolookup.reports.section import Section
from geolookup.reports.table import Table


def charts_section(
    anchor: str, title: str, note: str, charts: Sequence[Chart], tables: Sequence[Table] = ()
) -> Section:
    """Return a section that shows charts and tables; ``note`` is the sentence above them."""
    values = {"note": note, "charts": charts, "tables": tables}
    pictures = (Picture(chart.name, chart.picture_svg()) for chart in charts if chart.rows)
    return Section(anchor, title, "charts.html", values, pictures=pictures)


def pairs_section(
    anchor: str, title: str, note: str, pairs: Sequence[tuple[Chart, Table]]
) -> Section:
    """Return a section that shows each chart beside its table, where there is room."""
    pictures = (Picture(chart.name, chart.picture_svg()) for chart, _ in pairs)
    values = {"note": note, "pairs": pairs}
    return Section(anchor, title, "pairs.html", values, pictures=pictures)
