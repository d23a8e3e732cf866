"""Reports and maps in headless Chromium: what every page must do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import NARROW, OF_PAGES, Reader
from tests.reports.conftest import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = OF_PAGES
Pages = Callable[[str], Path]
WIDTHS = (400, 1600)
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def _opened(reader: Reader, path: Path) -> list[str]:
    """Open a page and wait until its scripts are done; returns the requests to come."""
    requests: list[str] = []
    reader.page.on("request", lambda request: requests.append(request.url))
    reader.page.on("dialog", lambda dialog: reader.problems.append(f"dialog: {dialog.message}"))
    reader.open(path.as_uri())
    reader.wait_for_maps()
    return requests


def _sized(reader: Reader, width: int) -> None:
    reader.page.set_viewport_size({"width": width, "height": 900})


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_problem(page: Pages, reader: Reader, name: str) -> None:
    _opened(reader, page(name))
    for opened in ("false", "true"):  # what opens, too
        reader.page.evaluate(
            f"document.querySelectorAll('details').forEach(each => {{ each.open = {opened}; }})"
        )
        for width in WIDTHS:
            _sized(reader, width)
            reader.check_width()
        reader.check()


@pytest.mark.parametrize("name", PAGES)
def test_no_request_is_only_prevented_by_the_policy(
    page: Pages, reader: Reader, name: str, tmp_path: Path
) -> None:
    text, changed = _POLICY.subn("", page(name).read_text(encoding="utf-8"))
    assert changed == 1
    free = tmp_path / "free.html"
    free.write_text(text, encoding="utf-8")
    requests = _opened(reader, free)
    assert [request for request in requests if not request.startswith(("blob:", "data:"))] == [
        free.as_uri()
    ]


@pytest.mark.parametrize("name", ["bundled", "map"])
def test_every_picture_is_there_before_a_script_runs(
    page: Pages, browser: Browser, name: str
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport=NARROW)  # type: ignore[arg-type]
    tab = context.new_page()
    tab.goto(page(name).as_uri())
    pictures = tab.locator("figure .chart svg, .address-map img:not([hidden])").all()
    assert len(pictures) >= 4
    for picture in pictures:
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 100
        assert box["height"] > 20
    context.close()


def test_a_phone_shows_the_navigation_whole_and_the_heads_of_stacked_cells(
    page: Pages, reader: Reader
) -> None:
    _opened(reader, page("bundled"))
    links = [link.bounding_box() for link in reader.page.locator("nav a").all()]
    assert len(links) >= 7
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= 400 for box in links)
    heads = reader.page.evaluate("""() => {
      const table = document.querySelector("#licences .stacks");
      const names = [...table.tHead.rows[0].cells].slice(1).map(each => each.textContent);
      const shown = [...table.tBodies[0].rows[0].querySelectorAll("td")].map(
        each => JSON.parse(getComputedStyle(each, "::before").content));
      return [names, shown];
    }""")
    assert heads[0] == heads[1] != []


def test_a_print_has_no_scrolling_box(page: Pages, reader: Reader) -> None:
    _opened(reader, page("bundled"))
    reader.page.emulate_media(media="print")
    assert not reader.page.locator("nav").is_visible()
    assert not reader.page.get_by_role("button", name="Save as CSV").first.is_visible()
    boxes = reader.page.evaluate("""() => [...document.querySelectorAll(".scrolls")].filter(
      each => getComputedStyle(each).overflowY !== "visible").length""")
    assert boxes == 0
