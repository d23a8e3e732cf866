"""The site in headless Chromium, opened as files: what a reader and a screen reader meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("furo")
pytest.importorskip("playwright")
axe = pytest.importorskip("axe_playwright_python.base")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

pytestmark = pytest.mark.long
NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1280, "height": 900}
#: The elements that break a rule of axe-core with a serious or critical effect.
_AXE = """([without, options]) => axe.run(
  {include: [["html"]], exclude: without}, {preload: false, resultTypes: ["violations"], ...options}
).then(found => found.violations.filter(each => ["serious", "critical"].includes(each.impact))
    .map(each => `${each.id}: ${each.nodes[0].target}`))"""
#: Marks what looks like an element elsewhere on the page: tags, classes and styles are the same,
#: up to the root. Contrast takes most of the time of a check, and needs one element of each look.
_MARK = """() => {
  const seen = new Set(), paths = new Map([[document.documentElement, ""]]);
  const all = [...document.body.querySelectorAll("*")];
  for (const each of [document.body, ...all]) {
    const look = ["class", "style"].map(name => each.getAttribute(name));
    paths.set(each, `${paths.get(each.parentElement)} ${each.tagName} ${look}`);
  }
  for (const each of all.reverse()) {
    const same = seen.has(paths.get(each)) && [...each.children].every(it => "alike" in it.dataset);
    if (same) each.dataset.alike = "";
    seen.add(paths.get(each));
  }
}"""
_STRUCTURE: tuple[object, object] = [], {"rules": {"color-contrast": {"enabled": False}}}
_CONTRAST = [["[data-alike]"]], {"runOnly": ["color-contrast"]}
#: The page, or its text in the theme's own scrolling box; code and tables may scroll by themselves.
_SIDEWAYS = """() => {
  const root = document.documentElement;
  const scrolls = each => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
  const own = each => each.closest(".highlight, .table-wrapper");
  return [root, ...document.querySelectorAll("body, body div")].some(
    each => each.scrollWidth > each.clientWidth && (each === root || (scrolls(each) && !own(each)))
  );
}"""


class _Reader:
    """A tab of the browser that notes what goes wrong."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.problems.append(f"request: {request.url}")

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.page.evaluate(axe.AXE_SCRIPT)

    def check(self) -> None:
        """Structure is the same in light and dark, contrast is not."""
        self._check("structure", _STRUCTURE)
        self.page.evaluate(_MARK)
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self._check(scheme, _CONTRAST)

    def _check(self, part: str, rules: object) -> None:
        self.problems += [f"{part}: {each}" for each in self.page.evaluate(_AXE, rules)]

    def check_width(self) -> None:
        if self.page.evaluate(_SIDEWAYS):
            self.problems.append("scrolls sideways")


@pytest.fixture
def reader(browser: Browser) -> Iterator[_Reader]:
    page = browser.new_page(viewport=NARROW, offline=True)  # type: ignore[arg-type]
    yield _Reader(page)
    page.close()


def test_every_page_on_a_narrow_screen(site: Path, reader: _Reader) -> None:
    found = {}
    for path in sorted(site.rglob("*.html")):
        reader.problems.clear()
        reader.open(path.as_uri())
        reader.check_width()
        reader.check()
        if reader.problems:
            found[str(path.relative_to(site))] = list(reader.problems)
    assert found == {}


def test_a_check_finds_what_is_wrong(site: Path, reader: _Reader) -> None:
    reader.open((site / "index.html").as_uri())
    reader.page.evaluate(
        """document.querySelector("article p").outerHTML =
          '<img src="_static/file.png"><p style="color: #ccc; background: #fff">pale</p>'
          + '<p style="width: 500px">wide</p>'"""
    )
    reader.check_width()
    reader.check()
    found = {problem.partition(": ")[2].partition(":")[0] for problem in reader.problems}
    assert {"image-alt", "color-contrast"} <= found
    assert "scrolls sideways" in reader.problems


@pytest.mark.parametrize("name", ["index", "reference/commands"])
def test_a_wide_screen_shows_the_navigation(site: Path, reader: _Reader, name: str) -> None:
    reader.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    reader.open((site / f"{name}.html").as_uri())
    assert reader.page.locator(".sidebar-tree .caption").first.is_visible()
    reader.check()
    assert reader.problems == []


def test_search_works_without_a_server(site: Path, reader: _Reader) -> None:
    reader.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    reader.page.goto((site / "index.html").as_uri())
    reader.page.fill(".sidebar-search", "retry_after")
    reader.page.press(".sidebar-search", "Enter")
    reader.page.locator("#search-results a", has_text="Exceptions").first.click()
    reader.page.wait_for_url("**/reference/errors.html*")
    assert reader.problems == []
