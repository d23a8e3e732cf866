"""A page of sections and its pictures, written at once or not at all.

A page is one HTML file that asks the network for nothing. A content security policy forbids every
request; scripts and styles lie in the file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.errors import OutputError
from geolookup.filesystem.atomic import check_file, staged_file
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
        )
    )


def _assets(*names: Sequence[str]) -> list[str]:
    """Return the texts of files of ``assets/``, each once, in the order of their first mention."""
    once = dict.fromkeys(chain.from_iterable(names))
    return [(_ASSETS / name).read_text(encoding="utf-8") for name in once]


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("geolookup.reports", "templates")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    # For the filter "tojson": as short as possible.
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return made


#: The modules of the extra, and the packages that hold them.
_EXTRA = {"jinja2": "jinja2", "PIL": "pillow", "vl_convert": "vl-convert-python"}


def check_output(output: Path, rows: Path | None = None, *, force: bool) -> None:
    """Raise OutputError unless the page can and may be written: a file, or ``STANDARD_OUTPUT``.

    It may not replace ``rows``, another output.
    """
    for module, package in _EXTRA.items():
        if find_spec(module) is None:
            problem = f"needs the package {package}"
            raise OutputError(output, problem, "pip install 'geolookup[report]'")
    if output != STANDARD_OUTPUT:
        check_file(output, force=force)
    if rows is not None and rows.resolve() == output.resolve():
        raise OutputError(output, "is the file of --rows", "choose another file")


def write_page(
    output: Path, title: str, lead: str, sections: Sequence[Section], *, force: bool = True
) -> list[Path]:
    """Write the page; return the paths of written files: none for standard output."""
    html = page(title, lead, sections).encode()
    if output == STANDARD_OUTPUT:
        sys.stdout.buffer.write(html)
        return []
    with staged_file(output, force=force) as fresh:
        fresh.write_bytes(html)
    return [output]
