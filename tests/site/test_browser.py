"""The site in headless Chromium, opened as files: what a reader and a screen reader meet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser import WIDE, Reader
from tests.skips import needs

pytestmark = [
    pytest.mark.long,
    needs("sphinx", "furo", "playwright", "axe_playwright_python"),
]


def test_every_page_on_a_narrow_screen(site: Path, reader: Reader) -> None:
    actual, looks = {}, list[str]()
    for path in sorted(site.rglob("*.html")):
        reader.problems.clear()
        reader.open(path.as_uri())
        reader.check_width()
        reader.check(looks)
        if reader.problems:
            actual[str(path.relative_to(site))] = list(reader.problems)
    assert actual == {}


def test_a_check_finds_what_is_wrong(site: Path, reader: Reader) -> None:
    reader.open((site / "index.html").as_uri())
    reader.page.evaluate(
        """document.querySelector("article p").outerHTML =
          '<img src="_static/file.png"><p style="color: #ccc; background: #fff">pale</p>'
          + '<p style="width: 500px">wide</p>'"""
    )
    reader.check_width()
    reader.check()
    actual = {problem.partition(": ")[2].partition(":")[0] for problem in reader.problems}
    assert {"image-alt", "color-contrast"} <= actual
    assert "scrolls sideways" in reader.problems


def test_a_wide_screen_shows_the_navigation(site: Path, reader: Reader) -> None:
    reader.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    reader.open((site / "reference" / "errors.html").as_uri())
    tree = reader.page.locator(".sidebar-tree")
    for door in ("Use", "Data", "Operate", "Reference"):
        assert tree.get_by_role("link", name=door, exact=True).is_visible()
    reader.check()
    assert reader.problems == []


@pytest.mark.parametrize(
    ("words", "title", "page"),
    [("retry_after", "Exceptions", "reference/errors"), ("GeoIP", "Use", "use/index")],
)
def test_search_works_without_a_server(
    site: Path, reader: Reader, words: str, title: str, page: str
) -> None:
    reader.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    reader.page.goto((site / "index.html").as_uri())
    reader.page.fill(".sidebar-search", words)
    reader.page.press(".sidebar-search", "Enter")
    results = reader.page.locator("#search-results")
    results.get_by_role("link", name=re.compile(rf"^{title}\b")).first.click()
    reader.page.wait_for_url(f"**/{page}.html*")
    assert reader.problems == []
