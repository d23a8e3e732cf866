"""Charts as Vega-Lite specifications, drawn to SVG by vl-convert without a browser.

A page shows a chart in the colours of its own text; a picture has dark ink on white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The width of a chart's plot in px: with its labels it fits a narrow screen.
_WIDTH = 200
#: Distinguishable from a white and from a black page: 3:1 and more.
BAR = "#2a7fb8"
_AXIS = {"labelLimit": 130, "grid": False, "domain": False, "ticks": False}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, and the table of its values for readers who do not see it."""

    name: str  # of files and elements
    title: str
    spec: Mapping[str, Any]  # Vega-Lite, without colours of text and background
    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    def page_svg(self) -> str:
        """Return the chart for a page: transparent, with the text colour of the page."""
        return self._svg("currentColor", None)

    def picture_svg(self) -> str:
        """Return the chart for a picture of its own: dark ink on white."""
        return self._svg("#1f2328", "white")

    def _svg(self, ink: str, background: str | None) -> str:
        import vl_convert

        config = {
            "font": "sans-serif",
            "view": {"stroke": None},
            "axis": {"labelColor": ink, "titleColor": ink, **_AXIS},
            "text": {"color": ink},
        }
        spec = {"background": background, "config": config, **self.spec}
        drawn: str = vl_convert.vegalite_to_svg(spec)
        return drawn


def bars(
    name: str, title: str, unit: str, values: Sequence[tuple[str, float]], *, form: str = ",.4~g"
) -> Chart:
    """Return horizontal bars, a row each; ``form`` is a number format of D3."""
    rows = [{"name": label, "value": value} for label, value in values]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None}
    x = {"field": "value", "type": "quantitative", "title": unit, "axis": None}
    text = {"field": "value", "type": "quantitative", "format": form}
    spec = {
        "width": _WIDTH,
        "height": {"step": 18},
        "data": {"values": rows},
        "encoding": {"y": y, "x": x},
        "layer": [
            {"mark": {"type": "bar", "color": BAR}},
            {"mark": {"type": "text", "align": "left", "dx": 3}, "encoding": {"text": text}},
        ],
    }
    return Chart(name, title, spec, ("", unit), values)
