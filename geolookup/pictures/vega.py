"""Draws Vega-Lite specifications to SVG by vl-convert, without a browser.

A page has many drawings, in the colours of its own text, light or dark; a picture has dark ink on
white. So an id of a drawing begins with the name of the chart, and a colour of ``SCALE`` has its
counterpart for a dark page beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from geolookup.pictures.colours import SCALE
from geolookup.pictures.picture_files import FONT

#: The size of text in px.
TEXT = 12
#: The tags of a drawing. Texts have no tags: they are escaped.
_TAGS = re.compile(r"<[^>]*>")
#: In a tag: an id; the description of a shape; a line, and decimals after the first.
_IDS = re.compile(r'(?<= id=")[^"]*|(?<="url\(#)[^)]*|(?<=href="#)[^"]*')
_SHAPE = re.compile(r'<path aria-label="([^"]*)" role="[^"]*" aria-roledescription="[^"]*"')
_LINES, _DECIMALS = re.compile(r' (?:d|transform)="[^"]*"'), re.compile(r"(\.\d)\d+")
#: Colours of a scale in attributes and styles.
_COLOURS = re.compile(rf'(?<=[":])(?:{"|".join(SCALE)})(?=")')
_ON_DARK = dict(zip(SCALE, reversed(SCALE), strict=True))


def draw(name: str, spec: Mapping[str, Any], ink: str, legend: Mapping[str, Any]) -> str:
    """Return a specification as SVG; ``legend`` are properties of all of its legends."""
    import vl_convert

    config = _config(ink)
    config["legend"] |= legend
    svg: str = vl_convert.vegalite_to_svg({**spec, "config": config})
    # The library counts ids on from one drawing to the next; here each begins at 0.
    ids: dict[str, int] = {}

    def rename(match: re.Match[str]) -> str:
        return f"{name}-{ids.setdefault(match[0], len(ids))}"

    return _TAGS.sub(lambda tag: _shorten(_IDS.sub(rename, tag[0])), svg)


def _config(ink: str) -> dict[str, Any]:
    label = {"labelColor": ink, "labelFontSize": TEXT}
    title = {"titleColor": ink, "titleFontSize": TEXT, "titleFontWeight": "normal"}
    return {
        "aria": False,  # the page names the chart
        "font": FONT,
        "view": {"stroke": None},
        "title": {"color": ink, "fontSize": 14, "subtitleColor": ink, "subtitleFontSize": TEXT},
        "axis": {
            **label,
            **title,
            "grid": False,
            "domain": False,
            "ticks": False,
            "labelPadding": 4,
        },
        "legend": {**label, **title, "labelLimit": 300},
        "text": {"color": ink, "fontSize": TEXT},
    }


def _shorten(tag: str) -> str:
    """Return a tag with tenths of a px, and with the description of a shape as its title."""
    tag = _LINES.sub(lambda line: _DECIMALS.sub(r"\1", line[0]), tag)
    shape = _SHAPE.match(tag)
    if shape is None:
        return tag
    end = f"><title>{shape[1]}</title></path>" if shape[1] else "/>"
    return "<path" + tag[shape.end() :].removesuffix("/>") + end


def light_and_dark(markup: str) -> str:
    """Return a drawing whose colours of ``SCALE`` go from few to much on a dark page too."""
    return _TAGS.sub(lambda tag: _COLOURS.sub(_of_both, tag[0]), markup)


def _of_both(colour: re.Match[str]) -> str:
    return f"light-dark({colour[0]}, {_ON_DARK[colour[0]]})"
