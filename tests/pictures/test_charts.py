"""Charts: what they state, that they fit a narrow screen, and what names cannot do to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.pictures import (
    SCALE,
    Chart,
    charts,
    class_bounds,
    class_labels,
    wording,
    world,
)
from tests.pictures.drawings import fills, parsed, texts, titles
from tests.skips import needs

HOSTILE = [
    '</script><script>alert(1)</script><b>&amp;"',
    "a\x00\x1b[31m\u2028",
    "\u202eabc مرحبا 😀",
    "x" * 10_000,
    "",
    'id="a" url(#a) fill="#c7e9b4"',
    "a' > {0} datum.value ${b}",
]
HOURS = [str(hour) for hour in range(24)]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
WEEK = [[None if (day + hour) % 5 == 0 else day * hour for hour in range(24)] for day in range(7)]
STARTS = [f"2025-03-{day:02} 00:00" for day in range(1, 31)]


def _charts() -> list[Chart]:
    named = [(name, number / 3) for number, name in enumerate(HOSTILE)]
    shares: list[list[float]] = [[0.5, 0.25, 0, 0, 0, 0.25, 0], [0] * 7]
    cells: list[list[float | None]] = [[number] for number in range(len(HOSTILE))]
    return [
        charts.bars("bars", "Bars", "share", named, form=wording.percent),
        charts.bars("long", "Long", "n", [("W" * 99, 10**12), ("b", 1)]),
        charts.periods("time", "Time", "requests", STARTS, [None, *map(float, range(29))]),
        charts.periods("always", "Time", "requests", STARTS * 8, [2.0**60] * 240),
        charts.heatmap("hours", "Hours", "requests", DAYS, HOURS, WEEK),
        charts.heatmap("names", "Names", "n", [*map(wording.name, HOSTILE)], ["c"], cells),
        charts.stacked_bars("parts", "Parts", ["one", "other"], HOSTILE, shares, ["#112233"]),
        world("world", "World", HOSTILE[0], {**dict.fromkeys(HOSTILE, 7), "DE": 2**64, "LI": 1}),
    ]


@needs("vl_convert")
@pytest.mark.long
def test_a_drawing_is_xml_fits_a_narrow_screen_and_keeps_its_ids() -> None:
    for chart in _charts():
        markup = chart.page_svg()
        root = parsed(markup)
        sizes = set(re.findall(r'font-size="([\d.]+)px', markup))
        if chart.wide:
            assert not sizes, chart.name  # its texts are not scaled: they are in the key
        else:
            assert float(root[0].attrib["width"]) <= 350  # 400 px without all margins
            assert sizes <= {"13"}, chart.name
        ids = [item.attrib["id"] for item in root.iter() if "id" in item.attrib]
        assert len(ids) == len(set(ids))
        assert all(element_id.startswith(f"{chart.name}-") for element_id in ids)
        assert set(re.findall(r"url\(#([^)]*)\)", re.sub(">[^<]*<", "><", markup))) <= {*ids, "a"}
        names = {re.sub(r"\{.*\}", "", item.tag) for item in root.iter()}
        assert names <= {
            *("page", "svg", "g", "path", "text", "rect", "line", "defs", "clipPath", "title"),
            *("ul", "li", "span", "tspan"),
        }, names
        assert not re.search(r'(?:href|src)="(?!#)', markup)


@needs("vl_convert")
def test_texts_of_a_chart_are_the_names_as_they_are() -> None:
    shown = [*map(wording.name, HOSTILE)]
    chart = charts.bars("bars", "Bars", "n", [(name, 1.0) for name in HOSTILE])
    assert [label for label, _ in chart.rows] == shown
    assert {name for name in shown if 0 < len(name) < 20} <= set(texts(chart.page_svg()))
    cells: list[list[float | None]] = [[5]] * len(shown)
    heat = charts.heatmap("heat", "Heat", "n", shown, ["c"], cells)
    assert titles(heat.page_svg()) == [f"{name} c: 5" for name in shown]


def _sizes(chart: Chart, line: str, colours: Sequence[str] = ("#6655cc",)) -> list[float]:
    """Return the lengths of the shapes of colours, as parts of the first one's."""
    paths = [path for colour, path in fills(chart.page_svg()) if colour in colours]
    drawn = [float(match[1]) for path in paths if (match := re.match(line, path))]
    return [round(length / drawn[0], 1) for length in drawn]


@needs("vl_convert")
def test_bars_and_columns_are_as_long_as_their_values() -> None:
    values = [1.0, 2.0, 4.0]
    bars = charts.bars("b", "Bars", "n", [(str(value), value) for value in values])
    assert _sizes(bars, r"M0,[\d.]+h([\d.]+)v") == values
    columns = charts.periods("p", "Time", "n", ["a", "b", "c"], values)
    assert _sizes(columns, r"M[\d.,]+h[\d.]+v([\d.]+)h") == values
    stacked = charts.stacked_bars("s", "S", ["r"], ["x", "y"], [[0.2, 0.8]], ["#112233", "#445566"])
    assert _sizes(stacked, r"M[\d.,]+h([\d.]+)v", ["#112233", "#445566"])[:2] == [1.0, 4.0]
    assert stacked.rows == [("r", "20.00 %", "80.00 %")]


@needs("vl_convert")
def test_a_hidden_period_has_a_band_of_its_own() -> None:
    chart = charts.periods("p", "Time", "n", ["May", "June", "July"], [None, 0, 5])
    assert chart.rows == [("May", "hidden"), ("June", "0"), ("July", "5")]
    markup = chart.page_svg()
    assert {"May", "July", "grey: hidden"} <= set(texts(markup))
    assert [colour for colour, _ in fills(markup)].count("#88888855") == 1
    complete = charts.periods("p", "Time", "n", ["May", "June"], [0, 5])
    assert not any("grey" in text for text in texts(complete.page_svg()))


@needs("vl_convert")
def test_the_time_of_the_ends_of_an_axis_is_below_their_date() -> None:
    markup = charts.periods("p", "Time", "n", STARTS, [1.0] * len(STARTS)).page_svg()
    ends = re.findall(r"<tspan[^>]*>([^<]*)</tspan>", markup)
    assert ends == ["2025-03-01", "00:00", "2025-03-30", "00:00"]


@needs("vl_convert")
def test_a_cell_is_as_strong_as_its_value_and_a_hidden_value_has_none() -> None:
    chart = charts.heatmap("few", "Few", "n", ["a", "b"], ["c", "d"], [[500, None], [1000, 2000]])
    assert chart.rows == [("a", "500", ""), ("b", "1,000", "2,000")]
    markup = chart.page_svg()
    assert titles(markup) == ["a c: 500", "b c: 1,000", "b d: 2,000"]
    assert {"n", "0", "1k", "2k"} <= set(texts(markup))
    cells = re.findall(r'<path[^>]*opacity="([^"]*)"[^>]*><title>', markup)
    assert [float(opacity) for opacity in cells] == pytest.approx([0.31, 0.54, 1])


@given(
    st.lists(st.one_of(st.integers(1, 2**128), st.floats(1e-6, 1e30)), min_size=1),
    st.integers(0, 20),
)
def test_classes_hold_all_values_and_begin_at_the_threshold(
    numbers: list[float], least: int
) -> None:
    weights = [float(number) for number in numbers if number >= least]
    bounds = class_bounds(weights, least)
    assert len(bounds) <= len(SCALE)
    assert all(low < high for low, high in pairwise(bounds))
    if weights:
        assert least <= bounds[0] <= min(weights)
        assert bounds[-1] <= max(weights)
        assert len(set(class_labels(bounds, "n"))) == len(bounds)
