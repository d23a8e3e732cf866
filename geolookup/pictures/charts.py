"""Charts as Vega-Lite specifications, drawn to SVG by vl-convert without a browser.

A page shows a chart in the colours of its own text; a picture has dark ink on white. The other
colours suit both. A chart fits a screen of 400 px without scaling its text. A wide one is scaled
to the width of the page, so its key is text of the page. What a chart states as text is in the
table of its values too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from geolookup.pictures import wording
from geolookup.pictures.colours import CATEGORIES, OTHER, SCALE
from geolookup.pictures.picture_files import FONT, INK

#: The width of a chart with its labels, in px.
WIDTH = 312
#: The size of text, the most px of a label, and px that no character of a number exceeds.
_SIZE, _LABEL, _DIGIT = 12, 132, 8
#: The least px that bars have beside long labels and long numbers.
_NARROWEST = 30
#: The height of a stacked bar with the space around it.
_BAND = 24
#: The px on each side of a page's chart for texts in a font that is wider than the measured one.
_SLACK = 12
_AXIS = {"grid": False, "domain": False, "ticks": False, "labelPadding": 4, "labelFontSize": _SIZE}
_TITLE = {"titleFontSize": _SIZE, "titleFontWeight": "normal"}
#: The tags of a drawing, and where an id begins in one. Texts have no tags: they are escaped.
_TAGS, _IDS = re.compile(r"<[^>]*>"), re.compile(r'(?<= id=")|(?<=url\(#)|(?<=href="#)')
#: A shape that has a description, and the lines of a shape: tenths of a px are enough.
_DESCRIBED = re.compile(r'<path aria-label="([^"]*)" role="[^"]*" aria-role[^=]*="[^"]*"([^>]*)/>')
_LINES, _DECIMALS = re.compile(r' d="[^"]*"'), re.compile(r"(\.\d)\d+")
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
    saved_only: Collection[int] = ()  # columns that only the saved CSV has, from 0
    wide: bool = False  # as wide as the page
    key: Sequence[tuple[str, str]] = ()  # colours and their texts, if it is not in the drawing

    def page_svg(self) -> str:
        """Return the chart for a page: transparent, with the text colour of the page."""
        padding = 0 if self.wide else {"left": _SLACK, "right": _SLACK, "bottom": 4}
        svg = self._svg("currentColor", {"background": None, "padding": padding}, self.wide)
        return svg + self._key() if self.key else svg

    def picture_svg(self) -> str:
        """Return the chart for a picture of its own: its title above, dark ink on white."""
        title = {"text": self.title, "anchor": "start", "frame": "bounds", "offset": 12}
        return self._svg(INK, {"background": "white", "padding": 16, "title": title}, False)

    def _svg(self, ink: str, frame: Mapping[str, Any], keyless: bool) -> str:
        import vl_convert

        svg: str = vl_convert.vegalite_to_svg(
            {**self.spec, **frame, "config": _config(ink, keyless)}
        )
        # Drawings on one page must not share ids.
        return _TAGS.sub(lambda tag: _IDS.sub(f"{self.name}-", tag[0]), svg)

    def _key(self) -> str:
        items = (
            f'<li><span style="background:{colour}"></span>{escape(text)}</li>'
            for colour, text in self.key
        )
        return f'<ul class="key">{"".join(items)}</ul>'


def _config(ink: str, keyless: bool) -> dict[str, Any]:
    labels = {"labelColor": ink, "titleColor": ink, **_TITLE}
    return {
        "aria": False,  # the page names the chart
        "font": FONT,
        "view": {"stroke": None},
        "title": {"color": ink, "fontSize": 14},
        "axis": {**labels, **_AXIS},
        "legend": {
            **labels,
            "disable": keyless,
            "labelFontSize": _SIZE,
            "labelLimit": WIDTH - 20,
        },
        "text": {"color": ink, "fontSize": _SIZE},
    }


def bars(
    name: str,
    title: str,
    unit: str,
    values: Values,
    *,
    form: Form = wording.count,
    head: str = "",
    limit: float | None = None,
) -> Chart:
    """Return horizontal bars, a row each, in the order given; ``form`` makes the values' texts.

    ``head`` is what the labels name, for the table. A line marks the value ``limit``.
    """
    rows = [(wording.name(label), value, form(value)) for label, value in values]
    data = [{"row": i, "name": a, "value": float(b), "text": c} for i, (a, b, c) in enumerate(rows)]
    x: Part = {"field": "value", "type": "quantitative", "axis": None, "scale": {"zero": True}}
    # Beside a line that marks a limit the values stand in a column, clear of the line.
    beside = x if limit is None else {"value": "width"}
    before, after = (
        _widest(labels) for labels in ([row[0] for row in rows], [row[2] for row in rows])
    )
    spec = {
        "width": max(WIDTH - min(before, _LABEL) - after, _NARROWEST),
        "height": {"step": 20},
        "data": {"values": data},
        "encoding": {"y": _hidden_axis("row")},
        "layer": [
            {
                "mark": {"type": "bar", "color": CATEGORIES[0], "height": {"band": 0.7}},
                "encoding": {"x": x},
            },
            _text("text", {"align": "left", "dx": 4}, beside),
            _text("name", {"align": "right", "dx": -4, "limit": _LABEL - 4}, {"value": 0}),
            *([] if limit is None else [_rule(limit)]),
        ],
    }
    return Chart(name, title, spec, (head, unit), [(label, text) for label, _, text in rows])


def _rule(at: float) -> dict[str, Any]:
    mark = {"type": "rule", "strokeDash": [4, 3], "stroke": "currentColor"}
    return {
        "mark": mark,
        "encoding": {"x": {"datum": at}, "y": {"value": 0}, "y2": {"value": "height"}},
    }


def _hidden_axis(field: str) -> dict[str, Any]:
    """Return the position of rows: numbers keep rows of the same name apart."""
    return {"field": field, "type": "ordinal", "sort": None, "axis": None}


def _text(field: str, mark: Mapping[str, Any], x: Mapping[str, Any]) -> dict[str, Any]:
    encoding = {"x": x, "text": {"field": field, "type": "nominal"}}
    return {"mark": {"type": "text", "baseline": "middle", **mark}, "encoding": encoding}


def histogram(name: str, title: str, axis: str, unit: str, values: Values) -> Chart:
    """Return columns, one for each class in the order given; ``axis`` names the classes."""
    data = [{"class": label, "value": float(value)} for label, value in values]
    x: Part = {"field": "class", "type": "ordinal", "sort": None, "title": axis}
    x["axis"] = {"labelAngle": 0, "values": _sparse_labels([label for label, _ in values], 260)}
    y: Part = {"field": "value", "type": "quantitative", "title": unit}
    y["axis"] = {"grid": True, "gridColor": "#88888855", "tickCount": 4, "labelExpr": _SHORT}
    y["axis"] |= {"titlePadding": 10}
    spec = {
        "width": WIDTH - 70,
        "height": 160,
        "data": {"values": data},
        "mark": {"type": "bar", "color": CATEGORIES[0]},
        "encoding": {"x": x, "y": y},
    }
    rows = [(label, wording.count(value)) for label, value in values]
    return Chart(name, title, spec, (axis, unit), rows)


def _sparse_labels(labels: Sequence[str], width: int) -> list[str]:
    """Return every label, or every second, third and so on: as many as fit the width in px."""
    most = max(width // _widest(labels), 1)
    step = next((step for step in _STEPS if len(labels[::step]) <= most), len(labels))
    return list(labels[::step])


def _widest(labels: Sequence[str]) -> int:
    """Return the px that the widest label and the space beside it take, or a little more."""
    return max(map(len, labels), default=0) * _DIGIT + 6


#: Distances of labels that are easy to count by.
_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: Numbers of an axis: 20k, 3M, 4B; 0.5 if values are that small.
_SHORT = "datum.value < 1 ? datum.value : replace(format(datum.value, '~s'), 'G', 'B')"


def periods(
    name: str,
    title: str,
    unit: str,
    starts: Sequence[str],
    values: Sequence[float | None],
) -> Chart:
    """Return columns over time, a period each from its start on; at most about 240 fit.

    A value of None is hidden or incomplete: it has no column, but a grey band.
    """
    data = [
        {"at": at, "value": None if value is None else float(value)}
        for at, value in enumerate(values)
    ]
    x: Part = {"field": "at", "type": "ordinal", "title": None, "scale": {"padding": 0}}
    x["axis"] = {"labelAngle": 0, "values": [0]}
    y: Part = {"field": "value", "type": "quantitative", "title": unit}
    spec = {
        "width": WIDTH - 70,
        "height": 160,
        "data": {"values": data},
        "mark": {"type": "bar", "color": CATEGORIES[0]},
        "encoding": {"x": x, "y": y},
    }
    rows = [
        (start, "hidden" if value is None else wording.count(value))
        for start, value in zip(starts, values, strict=True)
    ]
    return Chart(name, title, spec, ("from", unit), rows)


def heatmap(
    name: str,
    title: str,
    unit: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
) -> Chart:
    """Return a cell for each row and column; a value of None is hidden and has no cell."""
    data = [
        {"row": row, "column": column, "value": float(value)}
        for row, line in zip(rows, values, strict=True)
        for column, value in zip(columns, line, strict=True)
        if value is not None
    ]
    x = {**_ordinal("column"), "scale": {"domain": [*columns]}}
    x["axis"] = {"labelAngle": 0, "orient": "top", "values": _sparse_labels(columns, WIDTH - 40)}
    y = {**_ordinal("row"), "scale": {"domain": [*rows]}, "axis": {"labelLimit": _LABEL}}
    size = min(22, (WIDTH - 40) // max(len(columns), 1))
    spec = {
        "width": size * len(columns),
        "height": max(size, 18) * len(rows),
        "data": {"values": data},
        "mark": {"type": "rect"},
        "encoding": {"x": x, "y": y, "color": _gradient(unit, has_any=bool(data))},
    }
    table = [
        (row, *("hidden" if value is None else wording.count(value) for value in line))
        for row, line in zip(rows, values, strict=True)
    ]
    return Chart(name, title, spec, ("", *columns), table)


def _ordinal(field: str) -> Part:
    return {"field": field, "type": "ordinal", "title": None}


def _gradient(unit: str, *, has_any: bool) -> Part:
    """Return the colour of values; their legend would read NaN if none is shown."""
    legend = {"orient": "bottom", "gradientLength": 200, "labelExpr": _SHORT, "titleLimit": WIDTH}
    return {
        "field": "value",
        "type": "quantitative",
        "title": unit,
        "legend": legend if has_any else None,
        "scale": {"range": SCALE, "zero": True},
    }


def stacked_bars(
    name: str,
    title: str,
    rows: Sequence[str],
    parts: Sequence[str],
    shares: Sequence[Sequence[float]],
) -> Chart:
    """Return a bar for each row, of the shares of its parts; the shares of a row sum to at most 1.

    ``rows`` and ``parts`` are distinct. Parts without a colour of their own are of the last one.
    """
    labels = [wording.name(part) for part in parts]
    data = [
        {"row": row, "part": label, "number": number, "share": share}
        for row, line in zip(rows, shares, strict=True)
        for number, (label, share) in enumerate(zip(labels, line, strict=True))
        if share
    ]
    before = min(_widest(rows), _LABEL)
    y = {**_ordinal("row"), "sort": None, "axis": {"labelLimit": _LABEL}}
    part = _categories(labels, {"legendX": -before, "legendY": _BAND * len(rows) + 28})
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


def _categories(labels: Sequence[str], position: Mapping[str, int]) -> Part:
    """Return the colours of parts, and their legend at a place of the chart."""
    colours = [*CATEGORIES[: len(labels)], *[OTHER] * (len(labels) - len(CATEGORIES))]
    # An outline goes around the colours: not all stand out from a page.
    outline = {"symbolStrokeColor": "currentColor", "symbolStrokeWidth": 0.5}
    legend = {"orient": "none", "columns": 1, "title": None, "symbolType": "square"}
    return {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": [*labels], "range": colours},
        "legend": {**legend, **position, **outline},
    }
