"""Reports and maps in headless Chromium: what every page and both kinds of map must do."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import OF_PAGES, Reader
from tests.reports.conftest import PAGES

pytestmark = OF_PAGES
Pages = Callable[[str], Path]
WIDTHS = (400, 1600)
#: Whether each canvas that is shown has several colours; a part of it lies over a picture.
_DRAWN = """() => {
  const shown = [...document.querySelectorAll("canvas")].filter(each => each.checkVisibility());
  return shown.length > 0 && shown.every(({ width, height }, at) => {
    const copy = new OffscreenCanvas(width, height).getContext("2d");
    copy.drawImage(shown[at], 0, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer)).size > 1;
  });
}"""
#: Marks what can be operated, and counts it.
_OPERABLE = """() => {
  const found = [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']"
  )].filter(each => each.checkVisibility() && !each.disabled);
  // Of radio buttons with one name, Tab reaches one.
  const kept = found.filter(each => each.type !== "radio" || each.checked);
  kept.forEach((each, at) => { each.dataset.operable = at; });
  return kept.length;
}"""
_FOCUSED = """() => {
  const style = getComputedStyle(document.activeElement);
  const seen = style.outlineStyle !== "none" || style.boxShadow !== "none";
  return [document.activeElement.dataset.operable ?? null, seen];
}"""
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_canvas_is_drawn(page: Pages, reader: Reader, scheme: str) -> None:
    reader.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    _opened(reader, page("bundled"))
    reader.page.wait_for_function(_DRAWN, timeout=60_000)


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_everything_and_shows_where(
    page: Pages, reader: Reader, name: str
) -> None:
    _sized(reader, 1600)
    _opened(reader, page(name))
    count = reader.page.evaluate(_OPERABLE)
    reached, hidden = set(), set()
    for _ in range(count + 5):
        reader.page.keyboard.press("Tab")
        at, seen = reader.page.evaluate(_FOCUSED)
        reached.add(at)
        if at is not None and not seen:
            hidden.add(at)
    assert reached - {None} == {str(at) for at in range(count)}
    assert hidden == set()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_prints_without_blank_sheets(page: Pages, reader: Reader, name: str) -> None:
    reader.page.emulate_media(color_scheme="dark")
    _opened(reader, page(name))
    sheets = _sheets(reader.page.pdf(format="A4"))
    assert sheets
    assert min(sheets) > 150, sheets


def _sheets(pdf: bytes) -> list[int]:
    """Return how many bytes draw each sheet of a PDF file by Skia."""
    objects = dict(re.findall(rb"^(\d+) 0 obj\n(.*?)\nendobj", pdf, re.MULTILINE | re.DOTALL))
    sheets = [record for record in objects.values() if re.search(rb"/Type\s*/Page\b", record)]
    actual = []
    for sheet in sheets:
        contents = re.findall(rb"/Contents\s+\[?\s*(\d+) 0 R", sheet)
        streams = [objects[number].partition(b"stream\n")[2] for number in contents]
        actual.append(sum(len(zlib.decompressobj().decompress(stream)) for stream in streams))
    return actual


#: The canvas that takes what a reader does, and what tells the place pointed at.
MAPS = {
    "addresses": ("#ipv4 .address-map-overlay", "#ipv4 .address-map-place"),
    "world": ("#world canvas", "#world output"),
}


class Map:
    """A map of the page that a reader has open."""

    def __init__(self, reader: Reader, name: str) -> None:
        canvas, details = MAPS[name]
        self.page, self.wait = reader.page, reader.wait_for_maps
        self.canvas, self.details = self.page.locator(canvas), self.page.locator(details)
        self.root = self.page.locator(f"#{'ipv4' if name == 'addresses' else 'world'}")

    def press(self, *keys: str) -> str:
        """Press keys on the map; return its text."""
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.wait()
        return self.details.inner_text()

    def touch(self) -> str:
        """Return which gestures of a finger on the map are the page's."""
        evaluation: str = self.canvas.evaluate("each => getComputedStyle(each).touchAction")
        return evaluation


@pytest.fixture(params=MAPS)
def drawn(page: Callable[[str], Path], reader: Reader, request: pytest.FixtureRequest) -> Map:
    reader.page.set_viewport_size({"width": 1000, "height": 700})
    reader.page.emulate_media(reduced_motion="reduce")  # scrolling ends at once
    reader.page.goto(page("bundled").as_uri())
    shown = Map(reader, request.param)
    shown.wait()
    return shown


def test_keys_point_in_steps_and_at_nothing(drawn: Map) -> None:
    drawn.canvas.focus()
    before = drawn.page.evaluate("scrollY")
    start = drawn.press("ArrowRight")
    assert start
    assert drawn.press("ArrowRight", "ArrowLeft") == start
    assert drawn.press("ArrowUp", "ArrowUp") != start
    assert drawn.press("Escape") == ""
    drawn.press("ArrowDown", "ArrowDown", "Home", "Escape")
    assert drawn.page.evaluate("scrollY") == before  # the page does not scroll
    drawn.page.keyboard.press("Control+ArrowRight")  # the browser's
    drawn.wait()
    assert drawn.details.inner_text() == ""
