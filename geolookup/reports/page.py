"""A page of sections: one HTML file that asks the network for nothing.

A content security policy forbids every request; scripts and styles lie in the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.reports.section import Section

if TYPE_CHECKING:
    from jinja2 import Environment

_ASSETS = Path(__file__).with_name("assets")
_STYLE = "page.css"


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
            scripts=_assets(*(section.scripts for section in sections)),
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
        yield name, text.replace("<", "\\u003c")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("geolookup.reports", "templates")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
