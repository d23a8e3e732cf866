"""A page of sections and its pictures, written at once or not at all.

A page is one HTML file that asks the network for nothing. A content security policy forbids every
request; scripts and styles lie in the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.errors import OutputError
from geolookup.filesystem.atomic import check_file, check_folder, staged_file, staged_folder
from geolookup.pictures.picture_files import is_picture, write_png
from geolookup.reports.section import Section

if TYPE_CHECKING:
    from jinja2 import Environment

_ASSETS = Path(__file__).with_name("assets")
_STYLE, _SCRIPT = "page.css", "save.js"
STANDARD_OUTPUT = Path("-")


def page(title: str, lead: str, sections: Sequence[Section]) -> str:
    """Return the HTML of a page; ``lead`` is the paragraph under its title."""
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=title,
            lead=lead,
            sections=sections,
            styles=_assets([_STYLE], *(section.styles for section in sections)),
            scripts=_assets([_SCRIPT], *(section.scripts for section in sections)),
            data=list(_data(sections)),
        )
    )


def _assets(*names: Sequence[str]) -> list[str]:
    """Return the texts of files of ``assets/``, each once, in the order of their first mention."""
    once = dict.fromkeys(chain.from_iterable(names))
    return [(_ASSETS / name).read_text(encoding="utf-8") for name in once]


def _data(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """Yield the ids of the data and their JSON, in which nothing can end a script element.

    Sections that share data name it alike; the page has it once.
    """
    once = dict(chain.from_iterable(section.data.items() for section in sections))
    for name, value in once.items():
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        # "</script>" and "<!--" in a text would end or change the element; "\u003c" is "<" in JSON.
        yield name, text.replace("<", "\\u003c")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("geolookup.reports", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


#: The modules of the extra, and the packages that hold them.
_EXTRA = {"jinja2": "jinja2", "PIL": "pillow", "vl_convert": "vl-convert-python"}


def check_outputs(output: Path, png: Path | None, rows: Path | None = None, *, force: bool) -> None:
    """Raise OutputError unless the page and the folder of pictures can and may be written.

    The page is a file, or ``STANDARD_OUTPUT``. Neither may replace ``rows``, another output.
    """
    _check_extra(output)
    if output != STANDARD_OUTPUT:
        check_file(output, force=force)
    files = [file.resolve() for file in (output, rows) if file is not None]
    if files[0] in files[1:]:
        raise OutputError(output, "is the file of --rows", "choose another file")
    if png is None:
        return
    check_folder(png, force=force, replaceable=_holds_pictures, kind="picture")
    if any(png.resolve() in (file, *file.parents) for file in files):
        raise OutputError(png, "is another output or holds it", "choose another folder")


def _check_extra(output: Path) -> None:
    for module, package in _EXTRA.items():
        if find_spec(module) is None:
            problem = f"needs the package {package}"
            raise OutputError(output, problem, "pip install 'geolookup[report]'")


def _holds_pictures(folder: Path) -> bool:
    return all(map(is_picture, folder.iterdir()))


def write_page(
    output: Path,
    png: Path | None,
    title: str,
    lead: str,
    sections: Sequence[Section],
    *,
    force: bool = True,
) -> list[Path]:
    """Write the page, and the pictures of its sections into ``png``; return the paths of files."""
    html = page(title, lead, sections).encode()
    if output == STANDARD_OUTPUT:
        written = _write_pictures(png, sections, force=force)
        sys.stdout.buffer.write(html)
        return written
    with staged_file(output, force=force) as fresh:
        fresh.write_bytes(html)
        return [output, *_write_pictures(png, sections, force=force)]


def _write_pictures(png: Path | None, sections: Sequence[Section], *, force: bool) -> list[Path]:
    if png is None:
        return []
    with staged_folder(png, force=force) as folder:
        pictures = [picture for section in sections for picture in section.pictures]
        return [png / path.name for path in write_png(folder, pictures)]
