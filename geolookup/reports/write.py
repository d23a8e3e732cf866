"""A page and its pictures, written at once or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from geolookup.filesystem.atomic import check_file, check_folder, staged_file, staged_folder
from geolookup.pictures.files import write_png
from geolookup.reports.page import page
from geolookup.reports.section import Section


def check_outputs(output: Path, png: Path | None, *, force: bool) -> None:
    """Raise OutputError unless the page and the folder of pictures may be written."""
    check_file(output, force=force)
    if png is not None:
        check_folder(png, force=force, replaceable=_holds_pictures, what="picture")


def _holds_pictures(folder: Path) -> bool:
    return all(each.suffix == ".png" for each in folder.iterdir())


def write_page(
    output: Path, png: Path | None, title: str, lead: str, sections: Sequence[Section]
) -> list[Path]:
    """Write the page, and the pictures of its sections into ``png``; return the paths."""
    written = [output]
    with staged_file(output) as fresh:
        fresh.write_text(page(title, lead, sections), encoding="utf-8")
        if png is not None:
            with staged_folder(png) as folder:
                pictures = [each for section in sections for each in section.pictures]
                written += [png / each.name for each in write_png(folder, pictures)]
    return written
