"""The site in headless Chromium, opened as files: what a reader and a screen reader meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import Reader
from tests.skips import needs

pytestmark = [
    pytest.mark.long,
    needs("sphinx", "furo", "playwright", "axe_playwright_python"),
]


def test_pages_on_a_narrow_screen(site: Path, reader: Reader) -> None:
    """One page of ten, from all doors: they share their templates."""
    actual, looks = {}, list[str]()
    for path in sorted(site.rglob("*.html"))[::10]:
        reader.problems.clear()
        reader.open(path.as_uri())
        reader.check_width()
        reader.check(looks)
        if reader.problems:
            actual[str(path.relative_to(site))] = list(reader.problems)
    assert actual == {}


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("timezone", "reference/contract.html#local-time"),
        ("time zone", "reference/contract.html#local-time"),
        ("as number", "reference/contract.html#fields"),
        ("ASN", "reference/contract.html#fields"),
        ("GeoIP", "integrate/from-geoip2.html"),
        ("CIDR", "integrate/prefixes.html"),
        ("who is", "use/shell.html"),
        ("whois", "use/shell.html"),
        ("reload", "operate/stores.html"),
        ("rate limit", "operate/api-keys.html"),
        ("create key", "operate/api-keys.html"),
        ("rollback", "operate/stores.html"),
        ("roll back", "operate/stores.html"),
        ("migrate", "integrate/index.html"),
        ("migrate from geoip2", "integrate/from-geoip2.html"),
        ("access log", "use/files.html#logs"),
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
