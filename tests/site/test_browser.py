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


@pytest.mark.parametrize(
    ("page", "label"),
    [
        ("use/tutorial", "Use Tutorial"),
        ("use/flask", "Use How-to guide"),
        ("data/sources/maxmind", "Data Reference"),
        ("SECURITY", "Operate Explanation"),
        ("reference/commands/lookup", "Reference"),
        ("use/index", ""),
    ],
)
def test_a_page_shows_its_door_and_its_kind(
    site: Path, reader: Reader, page: str, label: str
) -> None:
    reader.open((site / f"{page}.html").as_uri())
    shown = reader.page.locator("nav.door").all_inner_texts()
    assert " ".join(" ".join(shown).split()) == label
    # The search quotes the article.
    assert reader.page.locator("article nav.door").count() == 0


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("timezone", "reference/contract.html#local-time"),
        ("time zone", "reference/contract.html#local-time"),
        ("as number", "reference/contract.html#fields"),
        ("ASN", "reference/contract.html#fields"),
        ("GeoIP", "use/from-geoip2.html"),
        ("CIDR", "use/prefixes.html"),
        ("who is", "use/shell.html"),
        ("whois", "use/shell.html"),
        ("reload", "operate/stores.html"),
        ("rate limit", "operate/api-keys.html"),
        ("create key", "operate/api-keys.html"),
        ("rollback", "operate/stores.html"),
        ("roll back", "operate/stores.html"),
        ("migrate", "use/index.html#move-from-another-geoip-library"),
        ("migrate from geoip2", "use/from-geoip2.html"),
        ("access log", "use/logs.html"),
        ("install", "use/tutorial.html"),
        ("quickstart", "use/tutorial.html"),
    ],
)
def test_search_finds_the_page_by_a_word_of_readers(
    site: Path, reader: Reader, query: str, page: str
) -> None:
    reader.page.goto(f"{(site / 'search.html').as_uri()}?q={query}")
    first = reader.page.locator("#search-results li a").first
    assert first.get_attribute("href") == page


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
