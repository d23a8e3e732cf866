"""The section on the files of a dataset: how large each of them is."""

from __future__ import annotations

from pathlib import Path

from geolookup.pictures.charts import bars
from geolookup.reports.charts_section import charts_section
from geolookup.reports.section import Section

_NOTE = "All files of the dataset."


def files_section(folder: Path) -> Section:
    """Return the sizes of the files in a dataset's folder."""
    sizes = sorted(
        ((each.name, each.stat().st_size) for each in folder.iterdir() if each.is_file()),
        key=lambda named: (-named[1], named[0]),
    )
    total = sum(size for _, size in sizes)
    title = f"File sizes, {total:,} bytes in total"
    chart = bars("file-sizes", title, "bytes", sizes, head="file")
    return charts_section("files", "Files", _NOTE, [chart])
