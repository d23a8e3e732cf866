"""The page and its tables; ``report`` and ``map`` as commands; datasets that hold anything."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.conftest import build_at
from tests.datasets import SMALL
from tests.internals.reports import (
    Link,
    Section,
    Table,
    charts_section,
    head,
    link,
    linked,
    page,
    sections,
)
from tests.reports.conftest import DATASETS, LONG, MARKUP
from tests.skips import needs
from tests.tiers import one_of_each

pytestmark = needs("jinja2", "PIL", "vl_convert")


def _page(*sections: Section) -> str:
    return page("<Title>", "Lead & more", sections)


def _charts(*tables: Table) -> Section:
    return charts_section("all", "All <of> it", "", [], tables)


def test_only_http_urls_are_links() -> None:
    assert link("https://a.b/\x00") == Link("https://a.b/\\x00", "https://a.b/\\x00")
    assert link("javascript:alert(1)") == "javascript:alert(1)"
    html = _page(_charts(Table("Caption", ("a",), [(link("http://a.b/?c&d"),)])))
    assert '<a href="http://a.b/?c&amp;d" rel="noreferrer">http://a.b/?c&amp;d</a>' in html


def test_a_credit_links_to_its_web_sites() -> None:
    words = "by DB-IP (db-ip.com), see https://a.b/c?d. Mail ann@db-ip.com or 1.2.org-1, x.csv"
    assert linked(words) == (
        "by DB-IP (",
        Link("db-ip.com", "https://db-ip.com"),
        "), see ",
        Link("https://a.b/c?d", "https://a.b/c?d"),
        ". Mail ann@db-ip.com or 1.2.org-1, x.csv",
    )
    html = _page(_charts(Table("Caption", ("a", "b"), [("", linked("<i> nro.net"))])))
    assert '&lt;i&gt; <a href="https://nro.net" rel="noreferrer">nro.net</a></td>' in html


def test_a_map_of_traffic_links_to_db_ip(tmp_path: Path) -> None:
    """Its licence demands a link back from pages that show answers."""
    (tmp_path / "log.csv").write_text("ip\n8.8.8.8\n", encoding="utf-8")
    made = run("map", str(tmp_path / "log.csv"), "--output", "-", "--dataset", "bundled")
    assert '<a href="https://db-ip.com"' in made.stdout


def test_data_cannot_end_their_element() -> None:
    values = {"text": "</script><!--", "more": ["<", "\u2028"]}
    html = _page(replace(_charts(), data={"a-data": values}))
    match = re.search(
        r'<script type="application/json" id="a-data">(.*?)</script>', html, re.DOTALL
    )
    assert match is not None
    assert json.loads(match[1]) == values


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
    ("report SMALL --rows IN/x.csv", "--rows needs --against"),
    ("report SMALL --truth missing.csv", "missing.csv"),
    ("report SMALL --truth IN/empty.csv", "no row states a value for a public address"),
    ("report SMALL --truth IN/feed.csv --truth-format geofed", "'geofeed'"),
    ("map IN/a.csv --output IN/a.csv --force", "is the input"),
    ("map IN --output IN/a.csv --force", "is the input"),
    ("map IN/a.csv --output IN/none/x.html", "no such folder"),
    ("map IN/a.csv --ip-column name", "no column 'name'"),
    ("map IN/a.csv --local-time-at when", "no column 'when'"),
    ("map IN/a.csv --local-time-at ip", "row 2: a time has an unknown form"),
    ("map IN/a.csv --time-zone UTC", "name it by --local-time-at"),
    ("map IN/a.csv --local-time-at ip --time-zone Mars", "not a time zone"),
    ("map IN/no.csv", "No such file"),
)


def test_a_line_that_says_what_to_do(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for case, said in _CASES:
        words = [*case.split(), *([] if "--output" in case else ["--output", "IN/x.html"])]
        done = run(*(_path(word, tmp_path) for word in words))
        assert done.returncode == 2, case
        assert said in done.stderr, case
        assert done.stderr.count("\n") == 1, case
        assert "93.180" not in done.stderr, case
        assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == _FILES, case


def _path(word: str, folder: Path) -> str:
    return str(SMALL) if word == "SMALL" else word.replace("IN", str(folder))


#: Characters that no text of a page may have.
ESCAPED = {*map(chr, range(32)), "\x7f", "\u2028", "\u2029"} - {"\n"}


class _Page(HTMLParser):
    """The attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.attributes, self.texts = list[tuple[str, str]](), list[str]()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize(
    "name", one_of_each(DATASETS, lambda _: "of the fast tier: the hostile one")
)
def test_names_of_a_dataset_are_texts(name: str, tmp_path: Path) -> None:
    rows, recipe = DATASETS[name]
    dataset = build_at(tmp_path, {"a.csv": rows}, recipe)[0]
    title, lead = head(dataset)
    # A map has its names in its data too.
    shown = [section for section in sections(dataset) if not section.scripts]
    assert len(shown) > 2
    result = _Page(page(title, lead, shown))
    assert not [name for name, _ in result.attributes if name.startswith("on")]
    links = [value for name, value in result.attributes if name == "href"]
    assert all(link.startswith(("#", "https://")) for link in links)
    ids = [value for name, value in result.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert not ESCAPED & set("".join(result.texts))
    expected = {
        # The attribution is whole: a licence demands it.
        "hostile": {title, LONG, f"AS64502 {'W' * 111}…", "javascript:alert(1)"},
        "empty": {"Nothing to show.", "unknown"},  # its age
    }
    assert expected.get(name, set()) <= set(result.texts)
    if name == "hostile":
        assert title.startswith(f"{MARKUP}, generation ")
        assert any("\\x1b[31m" in text for text in result.texts)
