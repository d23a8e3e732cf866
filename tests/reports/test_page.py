"""The page and its tables: what is shown at once, what opens, and what scripts are given."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from geolookup.pictures.charts import bars
from geolookup.reports.charts_section import charts_section
from geolookup.reports.page import page
from geolookup.reports.section import Section
from geolookup.reports.table import Link, Table, link
from tests.skips import needs

pytestmark = needs("jinja2", "vl_convert")


def _page(*sections: Section) -> str:
    return page("<Title>", "Lead & more", sections)


def _charts(*tables: Table) -> Section:
    return charts_section("all", "All <of> it", "", [], tables)


def test_a_long_table_shows_its_first_rows() -> None:
    for rows, shown, more in (
        (1, 1, ""),
        (25, 25, ""),
        (26, 25, "1 more row<"),
        (27, 25, "2 more rows<"),
    ):
        table = Table("Caption", ("name", "value"), [(f"row {at}", "1") for at in range(rows)])
        first, _, opened = _page(_charts(table)).partition("<details>")
        assert first.count('<th scope="row">') == shown
        assert opened.count('<th scope="row">') == rows - shown
        assert more in opened
        assert bool(more) == (" more row" in opened)


def test_links_lead_to_the_web_alone() -> None:
    assert link("https://a.b/\x00") == Link("https://a.b/\\x00", "https://a.b/\\x00")
    assert link("javascript:alert(1)") == "javascript:alert(1)"
    html = _page(_charts(Table("Caption", ("a",), [(link("http://a.b/?c&d"),)])))
    assert '<a href="http://a.b/?c&amp;d" rel="noreferrer">http://a.b/?c&amp;d</a>' in html


def test_each_chart_with_rows_is_a_picture() -> None:
    charts = [bars("some", "Some", "", [("a", 1)]), bars("none", "None", "", [])]
    (picture,) = charts_section("all", "All", "", charts).pictures
    assert (picture.name, picture.svg[:4]) == ("some", "<svg")


def test_headings_follow_each_other() -> None:
    html = _page(_charts(), replace(_charts(), anchor="more"))
    assert re.findall(r"<h(\d)", html) == ["1", "2", "2"]
    assert "<h1>&lt;Title&gt;</h1>" in html
    assert re.findall(r'<a href="#(.*?)">', html) == ["all", "more"]


def test_data_cannot_end_their_element() -> None:
    values = {"text": "</script><!--", "more": ["<", "\u2028"]}
    html = _page(replace(_charts(), data={"a-data": values}))
    found = re.search(
        r'<script type="application/json" id="a-data">(.*?)</script>', html, re.DOTALL
    )
    assert found is not None
    assert json.loads(found[1]) == values


def test_a_table_is_not_named_like_its_section() -> None:
    section = _charts(Table("Coverage", ("Level", "share"), [("city", "1 %")]))
    text = _page(replace(section, title="Coverage"))
    assert re.findall(r'role="region" aria-label="([^"]*)"', text) == ["Table: Coverage"]
