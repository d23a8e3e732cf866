"""A section that compares: tables, charts between them, and tables that are closed at first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from geolookup.pictures.charts import Chart
from geolookup.pictures.files import Picture
from geolookup.reports.section import Section
from geolookup.reports.table import Table


def compared_section(
    anchor: str,
    title: str,
    note: str,
    first: Sequence[Table],
    charts: Sequence[Chart],
    further: Iterable[Table],
    details: Iterable[Table],
) -> Section:
    """Return a section: a note, the first tables, charts, further tables, and details."""
    values = {
        "note": note,
        "first": first,
        "charts": charts,
        "further": list(further),
        "details": list(details),
    }
    pictures = [Picture(each.name, each.picture_svg()) for each in charts]
    return Section(anchor, title, "compared.html", values, pictures=pictures)
