"""The page and its tables, and ``report`` and ``map`` as commands: one line where they fail."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from geolookup.pictures.charts import bars
from geolookup.reports.charts_section import charts_section
from geolookup.reports.page import page
from geolookup.reports.section import Section
from geolookup.reports.table import Link, Table, link
from tests.cli.program import run
from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.skips import needs

pytestmark = needs("jinja2", "PIL", "vl_convert")


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


_FILES = {
    "a.csv": "ip\n93.180.39.77\n",
    "empty.csv": "10.0.0.0/24,US,,,\n",
    "feed.csv": "8.8.8.0/24,US,,,\n",
}
#: The arguments, with IN for the folder of the files, and what the line says.
_CASES = (
    ("report SMALL --against missing", "missing"),
    ("report SMALL --against SMALL --fail-if contry_moved>2%", "'country_moved'"),
    ("report SMALL --fail-if country_moved>2%", "--fail-if needs --against"),
    ("report SMALL --truth missing.csv", "missing.csv"),
    ("report SMALL --truth IN/empty.csv", "no row states the location of a public address"),
    ("report SMALL --truth IN/feed.csv --truth-format geofed", "'geofeed'"),
    ("map IN/a.csv --output IN/a.csv --force", "is the input"),
    ("map IN --output IN/a.csv --force", "is the input"),
    ("map IN/a.csv --output IN/none/x.html", "no such folder"),
    ("map IN/a.csv --ip-column name", "no column 'name'"),
    ("map IN/a.csv --at when", "no column 'when'"),
    ("map IN/a.csv --at ip", "row 2: an instant is of no known"),
    ("map IN/a.csv --at-zone UTC", "name it by --at"),
    ("map IN/a.csv --at ip --at-zone Mars", "no time zone"),
    ("map IN/no.csv", "No such file"),
)


def test_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    for case, said in _CASES:
        words = [*case.split(), *([] if "--output" in case else ["--output", "IN/x.html"])]
        done = run(*(_path(word, tmp_path) for word in words))
        assert done.returncode == 2, case
        assert said in done.stderr, case
        assert done.stderr.count("\n") == 1, case
        assert "93.180" not in done.stderr, case
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == _FILES, case


@pytest.mark.long
def test_the_page_and_its_pictures_are_written(tmp_path: Path) -> None:
    output, png = tmp_path / "report.html", tmp_path / "png"
    done = run("report", str(SMALL), "--output", str(output), "--png", str(png))
    assert str(output) in done.stdout
    assert "ipv4.arrow" in output.read_text(encoding="utf-8")
    assert (png / "file-sizes.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_name_the_page_shows_what_lookups_answer_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, new = old_and_new()
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(new))
    for name, dataset in (("named", [str(new)]), ("unnamed", [])):
        done = run("report", *dataset, "--output", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "unnamed").read_bytes() == (tmp_path / "named").read_bytes()


def _path(word: str, folder: Path) -> str:
    return str(SMALL) if word == "SMALL" else word.replace("IN", str(folder))
