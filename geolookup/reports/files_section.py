"""The section on the files of a dataset: how large each of them is."""

from __future__ import annotations

from pathlib import Path

from geolookup.pictures.charts import bars
from geolookup.pictures.files import Picture
from geolookup.reports.section import Section


def files_section(folder: Path) -> Section:
    """Return the sizes of the files in a dataset's folder."""
    sizes = sorted(
        ((each.name, each.stat().st_size) for each in folder.iterdir() if each.is_file()),
        key=lambda named: (-named[1], named[0]),
    )
    chart = bars("file-sizes", "Size of each file", "bytes", sizes)
    pictures = [Picture(chart.name, chart.picture_svg())]
    return Section("files", "Files", "charts.html", {"charts": [chart]}, pictures=pictures)
