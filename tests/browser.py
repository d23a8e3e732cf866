"""Pages in headless Chromium: what a reader and a screen reader meet. A pytest plugin."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.skips import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

#: The marks of a module whose tests open pages of ``geolookup report`` and ``map``.
OF_PAGES = [
    pytest.mark.long,
    needs("playwright", "axe_playwright_python", "jinja2", "PIL", "vl_convert"),
]
NARROW, WIDE = {"width": 400, "height": 800}, {"width": 1280, "height": 900}
#: How long anything may take on a busy machine.
_PATIENCE_MS = 120_000
#: The elements that break a rule of axe-core with a serious or critical effect.
_AXE = """([without, options]) => axe.run(
  {include: [["html"]], exclude: without}, {preload: false, resultTypes: ["violations"], ...options}
).then(found => found.violations.filter(each => ["serious", "critical"].includes(each.impact))
    .map(each => `${each.id}: ${each.nodes[0].target}`))"""
#: Marks what looks like an element elsewhere on the page: tags, classes and styles are the same,
#: up to the root. Contrast takes most of the time of a check, and needs one element of each look.
#: Returns the looks of the page and of those before it.
_MARK = """before => {
  const seen = new Set(before), paths = new Map([[document.documentElement, ""]]);
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
  return [...seen];
}"""
_STRUCTURE: tuple[object, object] = [], {"rules": {"color-contrast": {"enabled": False}}}
_CONTRAST = [["[data-alike]"]], {"runOnly": ["color-contrast"]}
#: The page, or its text in a scrolling box of a theme; code and tables may scroll by themselves.
_SIDEWAYS = """() => {
  const root = document.documentElement;
  const scrolls = each => ["auto", "scroll"].includes(getComputedStyle(each).overflowX);
  const own = each => each.closest(".highlight, .table-wrapper, .scrolls");
  return [root, ...document.querySelectorAll("body, body div")].some(
    each => each.scrollWidth > each.clientWidth && (each === root || (scrolls(each) && !own(each)))
  );
}"""
#: Whether all maps are drawn, with all that has changed.
_MAPS_DRAWN = """() => [...document.querySelectorAll(".address-map, [data-world]")].every(
  each => "drawn" in each.dataset)"""


class Reader:
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
        """Open a page, and load axe-core into it."""
        from axe_playwright_python.base import AXE_SCRIPT

        self.page.goto(url)
        self.page.evaluate(AXE_SCRIPT)

    def wait_for_maps(self) -> None:
        """Wait until every map of the page is drawn, with all that has changed."""
        self.page.wait_for_function(_MAPS_DRAWN)

    def check(self, looks: list[str] | None = None) -> None:
        """Structure is the same in light and dark, contrast is not.

        ``looks`` are the looks of elements on other pages of the same style; this page adds its
        own.
        """
        self._check("structure", _STRUCTURE)
        looks = [] if looks is None else looks
        looks[:] = self.page.evaluate(_MARK, looks)
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self._check(scheme, _CONTRAST)

    def _check(self, part: str, rules: object) -> None:
        self.problems += [f"{part}: {item}" for item in self.page.evaluate(_AXE, rules)]

    def check_width(self) -> None:
        """Note a problem where the page scrolls sideways."""
        if self.page.evaluate(_SIDEWAYS):
            self.problems.append("scrolls sideways")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Headless Chromium: of the system, else the one that Playwright has installed.

    Playwright runs an event loop in this thread until the end: ``asyncio.run`` fails meanwhile.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        system = shutil.which("chromium") or shutil.which("google-chrome")
        if system is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium: apt-get install chromium")
        running = playwright.chromium.launch(executable_path=system)
        yield running
        running.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the pages of a module: tests of others may need ``asyncio.run``."""
    with chromium() as running:
        yield running


@pytest.fixture
def reader(browser: Browser) -> Iterator[Reader]:
    """A tab on a narrow screen, without a network."""
    page = browser.new_page(viewport=NARROW, offline=True)  # type: ignore[arg-type]
    page.set_default_timeout(_PATIENCE_MS)
    yield Reader(page)
    page.close()
