"""Draws Vega-Lite specifications to SVG by vl-convert, without a browser.

A drawing has the text colour of its page, so one serves light and dark. A page has many drawings:
an id begins with the name of the chart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: The size of text in px, and its fonts: the first is what vl-convert measures with.
TEXT, _FONT = 13, "Arial, Liberation Sans, Helvetica, sans-serif"
_INK = "currentColor"
_LABEL = {"labelColor": _INK, "labelFontSize": TEXT}
_TITLE = {"titleColor": _INK, "titleFontSize": TEXT, "titleFontWeight": "normal"}
_CONFIG: dict[str, Any] = {
    "aria": False,  # the page names the chart
    "font": _FONT,
    "view": {"stroke": None},
    "title": {"color": _INK},
    "axis": {**_LABEL, **_TITLE, "grid": False, "domain": False, "ticks": False, "labelPadding": 4},
    "legend": {**_LABEL, **_TITLE, "labelLimit": 300},
    "text": {"color": _INK, "fontSize": TEXT},
}
#: The tags of a drawing. Texts have no tags: they are escaped.
_TAGS = re.compile(r"<[^>]*>")
#: In a tag: an id; the description of a shape; a line, and decimals after the first.
_IDS = re.compile(r'(?<= id=")[^"]*|(?<="url\(#)[^)]*|(?<=href="#)[^"]*')
_SHAPE = re.compile(r'<path aria-label="([^"]*)" role="[^"]*" aria-roledescription="[^"]*"')
_LINES, _DECIMALS = re.compile(r' (?:d|transform)="[^"]*"'), re.compile(r"(\.\d)\d+")


def draw(name: str, spec: Mapping[str, Any]) -> str:
    """Return a specification as SVG, transparent if it has no background."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg({"background": None, **spec, "config": _CONFIG})
    # The library counts ids on from one drawing to the next; here each begins at 0.
    ids: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        return f"{name}-{ids.setdefault(match[0], len(ids))}"

    return _TAGS.sub(lambda tag: _shorten(_IDS.sub(rename, tag[0])), svg)


def _shorten(tag: str) -> str:
    """Return a tag with tenths of a px, and with the description of a shape as its title."""
    tag = _LINES.sub(lambda line: _DECIMALS.sub(r"\1", line[0]), tag)
    shape = _SHAPE.match(tag)
    if shape is None:
        return tag
    end = f"><title>{shape[1]}</title></path>" if shape[1] else "/>"
    return "<path" + tag[shape.end() :].removesuffix("/>") + end
