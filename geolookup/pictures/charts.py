"""Charts as Vega-Lite specifications, drawn to SVG by vl-convert, without a browser.

A chart fits a screen of 400 px, and is never enlarged: texts have one size on a page. A wide one is
scaled to the width of the page, so its key is text of the page. The texts of a chart are also in
the table of its values. A drawing has the text colour of its page, so one serves light and dark.
A page has many drawings: an id begins with the name of the chart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from geolookup.pictures import wording
from geolookup.pictures.colours import CATEGORIES, OTHER

#: The size of text in px, and its fonts: the first is what vl-convert measures with.
TEXT, _FONT = 13, "Arial, Liberation Sans, Helvetica, sans-serif"
_INK = "currentColor"
_LABEL = {"labelColor": _INK, "labelFontSize": TEXT}
_TITLE = {"titleColor": _INK, "titleFontSize": TEXT, "titleFontWeight": "normal"}
_CONFIG: dict[str, Any] = {
    "aria": False,  # the page names the chart; marks with "aria" have titles at the cursor
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
#: The width of a chart with its labels, in px.
WIDTH = 312
#: The width of columns beside their axis.
_PLOT = WIDTH - 70
#: Of lines and bands behind the columns.
_FAINT = "#88888855"
#: The most px of a label, and px that no character of a number exceeds.
_LONGEST, _DIGIT = 150, 8
#: The least px that bars have beside long labels and long numbers.
_NARROWEST = 30
#: The height of a stacked bar with the space around it.
_BAND = 24
#: The px on each side of a chart for texts in a font that is wider than the measured one.
_PADDING = {"left": 12, "right": 12, "bottom": 4}
Form = Callable[[float], str]
#: A label and its value. The library takes no integers of more than 64 bits, but floats.
Values = Sequence[tuple[str, float]]
Part = dict[str, Any]  # of a specification


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and the table of its values for readers who do not see it."""

    name: str  # of files and elements
    title: str
    spec: Mapping[str, Any]  # Vega-Lite, without colours of text and background
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    wide: bool = False  # as wide as the page
    key: Sequence[tuple[str, str]] = ()  # of a wide one: texts, and styles of the marks beside

    def page_svg(self) -> str:
        """Return the drawing for a page, and the key under it."""
        svg = draw(self.name, {"padding": 0 if self.wide else _PADDING, **self.spec})
        items = "".join(f"<li>{_mark(style)}{escape(text)}</li>" for text, style in self.key)
        return f'{svg}<ul class="key">{items}</ul>' if items else svg


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


def _mark(style: str) -> str:
    return f'<span style="{style}"></span>' if style else ""


def bars(
    name: str,
    title: str,
    unit: str,
    values: Values,
    *,
    form: Form = wording.count,
    head: str = "",
) -> Chart:
    """Return horizontal bars, a row each, in the order given; ``form`` makes the values' texts.

    ``head`` is what the labels name, for the table.
    """
    rows = [(wording.name(label), value, form(value)) for label, value in values]
    data = [{"row": i, "name": a, "value": float(b), "text": c} for i, (a, b, c) in enumerate(rows)]
    x: Part = {"field": "value", "type": "quantitative", "axis": None, "scale": {"zero": True}}
    before, after = (
        _widest(labels) for labels in ([row[0] for row in rows], [row[2] for row in rows])
    )
    spec = {
        "width": max(WIDTH - min(before, _LONGEST) - after, _NARROWEST),
        "height": {"step": 20},
        "data": {"values": data},
        # Numbers keep rows of the same name apart.
        "encoding": {"y": {**_ordinal("row"), "sort": None, "axis": None}},
        "layer": [
            {
                "mark": {"type": "bar", "color": CATEGORIES[0], "height": {"band": 0.7}},
                "encoding": {"x": x},
            },
            _text("text", {"align": "left", "dx": 4}, x),
            _text("name", {"align": "right", "dx": -4, "limit": _LONGEST - 4}, {"value": 0}),
        ],
    }
    return Chart(name, title, spec, (head, unit), [(label, text) for label, _, text in rows])


def _ordinal(field: str) -> Part:
    return {"field": field, "type": "ordinal", "title": None}


def _text(field: str, mark: Mapping[str, Any], x: Mapping[str, Any]) -> Part:
    encoding = {"x": x, "text": {"field": field, "type": "nominal"}}
    return {"mark": {"type": "text", "baseline": "middle", **mark}, "encoding": encoding}


def _widest(labels: Sequence[str]) -> int:
    """Return the px that the widest label and the space beside it take, or a little more."""
    return max(map(len, labels), default=0) * _DIGIT + 6


#: Numbers of an axis: 20k, 3M, 4B; 0.5 if values are that small.
_SHORT = "datum.value < 1 ? datum.value : replace(format(datum.value, '~s'), 'G', 'B')"


def _amounts(unit: str) -> Part:
    axis = {"grid": True, "gridColor": _FAINT, "tickCount": 4, "labelExpr": _SHORT}
    axis |= {"titlePadding": 10}
    scale = {"zero": True, "nice": True}
    return {"field": "value", "type": "quantitative", "title": unit, "axis": axis, "scale": scale}


def periods(
    name: str, title: str, unit: str, starts: Sequence[str], values: Sequence[float | None]
) -> Chart:
    """Return columns over time, one for each period from its start on; about 240 fit.

    A value of None is hidden: a grey band takes the place of its column.
    """
    texts = [_hidden(value) for value in values]
    data = [
        {"at": at, "end": at + 1, "value": value and float(value), "text": f"{start}: {text}"}
        for at, (start, value, text) in enumerate(zip(starts, values, texts, strict=True))
    ]
    # The ends of the axis are the first start and the last one, the time of each below its date.
    ends = starts[:1], starts[1:][-1:]
    first, last = (json.dumps("".join(start).rsplit(" ", 1)) for start in ends)
    axis = {"values": [0, len(data)], "labelExpr": f"datum.value ? {last} : {first}"}
    x: Part = {"field": "at", "type": "quantitative", "scale": {"domain": [0, len(data)]}}
    x |= {"axis": axis, "title": "grey: hidden" if None in values else None}
    # A gap is between wide columns. Narrow ones are of whole px, and a line fills the seams.
    # Those of 1 px are of 1.5 where they fit, so that the dates at the ends have room.
    many = max(len(data), 1)
    step = _PLOT // many if 2 * many <= _PLOT else max(2 * _PLOT // many / 2, 1)
    gap = {"x2Offset": -1} if step > 4 else {"stroke": CATEGORIES[0], "strokeWidth": 0.5}
    spec = {
        "data": {"values": data},
        "width": step * len(data),
        "height": 160,
        "encoding": {"x": x, "x2": {"field": "end"}, "description": {"field": "text"}},
        "layer": [
            {
                "transform": [{"filter": "datum.value === null"}],
                "mark": {"type": "bar", "color": _FAINT},
                "encoding": {"y": {"value": 0}, "y2": {"value": "height"}},
            },
            {
                "mark": {"type": "bar", "aria": True, "color": CATEGORIES[0], **gap},
                "encoding": {"y": _amounts(unit), "y2": {"datum": 0}},
            },
        ],
    }
    return Chart(name, title, spec, ("from", unit), [*zip(starts, texts, strict=True)])


def _hidden(value: float | None) -> str:
    return "hidden" if value is None else wording.count(value)


def heatmap(
    name: str,
    title: str,
    unit: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
) -> Chart:
    """Return a cell for each row and column: the larger its value, the stronger its colour.

    No cell is drawn if the value is None, and its text is empty.
    """
    texts = [["" if value is None else wording.count(value) for value in line] for line in values]
    data = [
        {"row": row, "column": column, "value": float(value), "text": f"{row} {column}: {text}"}
        for row, *line in zip(rows, values, texts, strict=True)
        for column, value, text in zip(columns, *line, strict=True)
        if value is not None
    ]
    x = {**_ordinal("column"), "scale": {"domain": [*columns]}}
    x["axis"] = {"labelAngle": 0, "orient": "top", "labelOverlap": "parity"}
    y = {**_ordinal("row"), "scale": {"domain": [*rows]}, "axis": {"labelLimit": _LONGEST}}
    # A linear scale: noise remains faint. Of classes, near values can be in two of them.
    strength = {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "scale": {"zero": True, "range": [0.08, 1]},
        "legend": {**_UNDER, "tickCount": 4, "labelExpr": _SHORT},
    }
    size = min(22, (WIDTH - 40) // max(len(columns), 1))
    spec = {
        "width": size * len(columns),
        "height": max(size, 18) * len(rows),
        "data": {"values": data},
        "mark": {"type": "rect", "aria": True, "color": CATEGORIES[0]},
        "encoding": {"x": x, "y": y, "opacity": strength, "description": {"field": "text"}},
    }
    table = [(row, *line) for row, line in zip(rows, texts, strict=True)]
    return Chart(name, title, spec, ("", *columns), table)


#: A legend of squares under the drawing.
_UNDER = {
    "orient": "bottom",
    "symbolType": "square",
    "symbolSize": 150,
    "symbolFillColor": CATEGORIES[0],
    "symbolStrokeWidth": 0,
}


def stacked_bars(
    name: str,
    title: str,
    rows: Sequence[str],
    parts: Sequence[str],
    shares: Sequence[Sequence[float]],
    colours: Sequence[str] = CATEGORIES,
) -> Chart:
    """Return a bar for each row, of the shares of its parts; the shares of a row sum to at most 1.

    ``rows`` and ``parts`` are distinct. Parts beyond ``colours`` are grey.
    """
    labels = [wording.name(part) for part in parts]
    data = [
        {"row": row, "part": label, "number": number, "share": share}
        for row, line in zip(rows, shares, strict=True)
        for number, (label, share) in enumerate(zip(labels, line, strict=True))
        if share
    ]
    before = min(_widest(rows), _LONGEST)
    y = {**_ordinal("row"), "scale": {"domain": [*rows]}, "axis": {"labelLimit": _LONGEST}}
    part = _categories(labels, colours, {"legendX": -before, "legendY": _BAND * len(rows) + 28})
    spec = {
        "width": WIDTH - before,
        "height": {"step": _BAND},
        "data": {"values": data},
        "mark": {"type": "bar", "stroke": "currentColor", "strokeWidth": 0.5},
        "encoding": {"y": y, "x": _SHARES, "color": part, "order": {"field": "number"}},
    }
    lines = zip(rows, shares, strict=True)
    table = [(row, *(wording.percent(share) for share in line)) for row, line in lines]
    return Chart(name, title, spec, ("", *labels), table)


#: The position of shares, from 0 to 1.
_SHARES: Part = {
    "field": "share",
    "type": "quantitative",
    "title": None,
    "scale": {"domain": [0, 1]},
    "axis": {"format": ".0%", "values": [0, 0.5, 1], "labelFlush": True},
}


def _categories(labels: Sequence[str], colours: Sequence[str], position: Mapping[str, int]) -> Part:
    """Return the colours of parts, and their legend at a place of the chart."""
    colours = [*colours[: len(labels)], *[OTHER] * (len(labels) - len(colours))]
    # An outline goes around the colours: not all stand out from a page.
    outline = {"symbolStrokeColor": "currentColor", "symbolStrokeWidth": 0.5}
    legend = {"orient": "none", "columns": 1, "title": None, "symbolType": "square"}
    return {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": [*labels], "range": colours},
        "legend": {**legend, **position, **outline},
    }
