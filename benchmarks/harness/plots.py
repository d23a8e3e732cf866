"""Tables as pictures: a panel of bars for each column, a bar for each row, labelled as printed.

Strategy: columns of one unit share a scale; rows of different units in one column are panels of
their own. A scale is logarithmic where its values span more than a factor of 100.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.tables import Bound, Cell, Number, Table
from geolookup.pictures.charts import Chart
from geolookup.pictures.colours import CATEGORIES, OTHER
from geolookup.pictures.picture_files import Picture, write_png

#: Of bars that measure geolookup, of others, and of bounds.
_OURS, _OTHERS, _BOUND = CATEGORIES[0], OTHER, "#1f2328"
#: Panels that stand side by side; a greatest ratio of values on a linear scale.
_ACROSS, _LINEAR = 3, 100
#: Pixels: of the longest bar, of a character of a label, and of a row.
_LONGEST, _CHARACTER, _ROW = 140, 7, 20


@dataclass(frozen=True, slots=True)
class _Bar:
    """A bar of a panel; a cell without a number has only a label."""

    name: str
    label: str
    value: float | None
    ours: bool
    bound: Bound | None

    @property
    def values(self) -> list[float]:
        """What the scale must hold."""
        bound = None if self.bound is None else self.bound.value
        return [value for value in (self.value, bound) if value is not None]


@dataclass(frozen=True, slots=True)
class _Scale:
    """From where to where the bars of a panel reach; ``log`` is whether by orders of magnitude."""

    least: float
    most: float
    log: bool


def draw(tables: Iterable[Table], folder: Path) -> list[Path]:
    """Write NAME.svg and NAME.png of each table that has numbers; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    charts = [chart(table) for table in tables if table.has_numbers]
    pictures = [Picture(picture.name, picture.picture_svg()) for picture in charts]
    svg_files = [folder / f"{picture.name}.svg" for picture in pictures]
    for path, picture in zip(svg_files, pictures, strict=True):
        path.write_text(picture.svg, encoding="utf-8")
    return svg_files + write_png(folder, pictures)


def chart(table: Table, across: int = _ACROSS) -> Chart:
    """Return a table as panels of bars, at most ``across`` side by side; labels are its cells."""
    lines = [
        {"hconcat": [_panel(*panel, first=at == 0) for at, panel in enumerate(line)], "spacing": 16}
        for line in _lines(table, across)
    ]
    spec = {"vconcat": lines, "spacing": 16}
    rows = [[str(cell) for cell in row] for row in table.rows]
    return Chart(table.name, table.header[0], spec, table.header, rows)


_Panel = tuple[str, list[_Bar], _Scale]


def _lines(table: Table, most: int) -> Iterator[list[_Panel]]:
    """Yield the panels that stand side by side: of the rows of like units, some columns."""
    for at in _alike(table):
        columns = [column for column in range(1, len(table.header)) if _numeric(table, at, column)]
        bars_of = {column: [_bar(table, row, column) for row in at] for column in columns}
        alike = [bars for column, bars in bars_of.items() if _shares(table, at, column)]
        shared = _scale([bar for bars in alike for bar in bars])
        panels = [
            (
                table.header[column] if len(columns) > 1 else "",
                bars,
                shared if bars in alike else _scale(bars),
            )
            for column, bars in bars_of.items()
        ]
        across = math.ceil(len(panels) / math.ceil(len(panels) / most))  # lines alike in length
        for begin in range(0, len(panels), across):
            yield panels[begin : begin + across]


def _alike(table: Table) -> list[list[int]]:
    """Return the numbers of the rows, those whose cells have the same units together.

    A row without a number is left out.
    """
    rows_by_units: dict[tuple[str, ...], list[int]] = {}
    for at, row in enumerate(table.rows):
        units = [cell.unit for cell in row if isinstance(cell, Number)]
        rows_by_units.setdefault(tuple(dict.fromkeys(units)), []).append(at)
    return [rows for units, rows in rows_by_units.items() if units]


def _numeric(table: Table, rows: Sequence[int], column: int) -> bool:
    return any(isinstance(table.rows[at][column], Number) for at in rows)


def _shares(table: Table, rows: Sequence[int], column: int) -> bool:
    """Return whether the numbers of a column are of the table's unit, not of one of their own."""
    cells = [table.rows[at][column] for at in rows]
    return bool(table.unit) and not any(isinstance(cell, Number) and cell.unit for cell in cells)


def _bar(table: Table, row: int, column: int) -> _Bar:
    name, cell = str(table.rows[row][0]), table.rows[row][column]
    bound = table.bounds[row] if table.bounds else None
    value = cell.value if isinstance(cell, Number) else None
    return _Bar(name, _label(cell, table.unit, bound), value, name.startswith(table.ours), bound)


def _label(cell: Cell, unit: str, bound: Bound | None) -> str:
    value = f"{cell} {unit}".strip() if isinstance(cell, Number) and not cell.unit else str(cell)
    return f"{value} ({bound.text})" if bound else value


def _scale(bars: Sequence[_Bar]) -> _Scale:
    values = [value for bar in bars for value in bar.values if value]
    least, most = min(values, default=0), max(values, default=1)
    if least > 0 and most / least > _LINEAR:
        return _Scale(10 ** math.floor(math.log10(least)), most, log=True)
    return _Scale(min(least, 0), max(most, 0), log=False)


def _panel(title: str, bars: Sequence[_Bar], scale: _Scale, *, first: bool) -> dict[str, Any]:
    """Return a panel: bars, their labels, and a line where a row has a bound."""
    longest = max(len(bar.label) for bar in bars)
    x = {
        "type": "quantitative",
        "axis": None,
        "scale": {
            "type": "log" if scale.log else "linear",
            "domain": [scale.least, scale.most],
            "range": [0, _LONGEST],
            "nice": False,
        },
    }
    # As wide as the labels are in a wider font than the one that is measured here.
    extent = _CHARACTER * max(len(bar.name) for bar in bars)
    axis = {"labelLimit": 620, "labelPadding": 6, "minExtent": extent, "title": None}
    bound = {"type": "tick", "thickness": 2, "size": _ROW, "color": _BOUND}
    return {
        "title": _title(title, scale),
        "width": round(_LONGEST + _CHARACTER * longest),
        "height": {"step": _ROW},
        "data": {"values": [_bar_values(bar, scale) for bar in bars]},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "axis": axis if first else None}
        },
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "x": {**x, "field": "start"},
                    "x2": {"field": "end"},
                    "color": {"field": "colour", "type": "nominal", "scale": None},
                },
            },
            {"mark": bound, "encoding": {"x": {**x, "field": "bound"}}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"x": {**x, "field": "after"}, "text": {"field": "label"}},
            },
        ],
    }


def _bar_values(bar: _Bar, scale: _Scale) -> dict[str, Any]:
    """Return where a bar begins and ends, and what stands beside it."""
    start = scale.least if scale.log else 0
    end = start if not bar.value else bar.value
    return {
        "name": bar.name,
        "label": bar.label,
        "colour": _OURS if bar.ours else _OTHERS,
        "start": start,
        "end": end,
        "bound": bar.bound.value if bar.bound else None,
        "after": max([start, *bar.values]),
    }


def _title(title: str, scale: _Scale) -> dict[str, Any] | None:
    text = ", ".join([*([title] if title else []), *(["logarithmic"] if scale.log else [])])
    size = {"fontSize": 12, "fontWeight": "normal"}
    return {"text": text, "anchor": "start", "frame": "group", **size} if text else None
