"""A page and its pictures, written at once or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from geolookup.errors import OutputError
from geolookup.filesystem.atomic import check_file, check_folder, staged_file, staged_folder
from geolookup.pictures.files import is_picture, write_png
from geolookup.reports.page import page
from geolookup.reports.section import Section

#: What the extra brings: the modules, and the packages that hold them.
_EXTRA = {"jinja2": "jinja2", "PIL": "pillow", "vl_convert": "vl-convert-python"}


def check_outputs(output: Path, png: Path | None, *, force: bool) -> None:
    """Raise OutputError unless the page and the folder of pictures can and may be written."""
    _check_extra(output)
    check_file(output, force=force)
    if png is None:
        return
    check_folder(png, force=force, replaceable=_holds_pictures, what="picture")
    if png.resolve() in (output.resolve(), *output.resolve().parents):
        raise OutputError(png, "is the page or holds it", "choose another folder")


def _check_extra(output: Path) -> None:
    for module, package in _EXTRA.items():
        if find_spec(module) is None:
            problem = f"needs the package {package}"
            raise OutputError(output, problem, "pip install 'geolookup[report]'")


def _holds_pictures(folder: Path) -> bool:
    return all(map(is_picture, folder.iterdir()))


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
