"""Charts: what they state, that they fit a narrow screen, and what names cannot do to them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from geolookup.pictures import charts, wording
from geolookup.pictures.charts import Chart
from tests.skips import needs

pytestmark = needs("vl_convert")

HOSTILE = ['</script><b>&amp;"', "a\x00\x1b[31m\u2028", "\u202eabc", "x" * 10_000, "", 'id="a"']
LENGTHS = [(str(length), length * 1_000_000.0) for length in range(129)]
HOURS = [[None if (day + hour) % 5 == 0 else day * hour for hour in range(24)] for day in range(7)]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def _charts() -> list[Chart]:
    named = [(name, number / 3) for number, name in enumerate(HOSTILE)]
    shares: list[list[float]] = [[0.5, 0.25, 0, 0, 0, 0.25], [0] * 6]
    hours = [str(hour) for hour in range(24)]
    return [
        charts.bars("bars", "Bars", "share", named, form=wording.percent),
        charts.bars("long", "Long", "n", [("W" * 99, 2**64), ("b", 1)]),
        charts.bars("none", "No bars", "share", []),
        charts.histogram("lengths", "Lengths", "prefix length", "prefixes", LENGTHS),
        charts.heatmap("hours", "Hours", "requests", DAYS, hours, HOURS),
        charts.stacked_bars("parts", "Parts", ["one", "other"], HOSTILE, shares),
    ]


def _parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - a drawing of our own


@pytest.mark.long
def test_a_drawing_is_xml_fits_a_narrow_screen_and_keeps_its_ids() -> None:
    for chart in _charts():
        drawn = chart.page_svg()
        root = _parsed(drawn)
        assert float(root.attrib["width"]) <= 368  # 400 px without the margins of a page
        sizes = [float(match) for match in re.findall(r'font-size="([\d.]+)px', drawn)]
        assert min(sizes, default=11) >= 11, chart.name
        ids = [item.attrib["id"] for item in root.iter() if "id" in item.attrib]
        assert all(row_id.startswith(f"{chart.name}-") for row_id in ids)
        assert set(re.findall(r"url\(#([^)]*)\)", drawn)) <= set(ids)
        assert _parsed(chart.picture_svg()).tag == root.tag
        assert chart.name != "parts" or '>id="a"<' in drawn  # texts stay


def test_a_hidden_value_has_no_cell() -> None:
    chart = charts.heatmap("few", "Few", "n", ["a", "b"], ["c", "d"], [[1, None], [None, 2000]])
    assert chart.rows == [("a", "1", "hidden"), ("b", "hidden", "2,000")]
    assert len(chart.spec["data"]["values"]) == 2


def test_much_is_dark_on_a_light_page_and_light_on_a_dark_one() -> None:
    chart = charts.heatmap("few", "Few", "n", ["a"], ["c", "d"], [[0, 9]])
    cells = re.findall(r'fill="light-dark\((rgb\([^)]*\)), (rgb\([^)]*\))\)"', chart.page_svg())
    least, most = ([sum(map(int, re.findall(r"\d+", item))) for item in cell] for cell in cells)
    assert least[0] > most[0]
    assert (least[1], most[1]) == (most[0], least[0])
    assert "light-dark" not in chart.picture_svg()
