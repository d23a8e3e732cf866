"""What the map of addresses and the map of the world do alike, in headless Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser import OF_PAGES, Reader

pytestmark = OF_PAGES
#: The canvas that takes what a reader does, and what tells the place pointed at.
MAPS = {
    "addresses": ("#ipv4 .address-map-overlay", "#ipv4 .address-map-place"),
    "world": ("#world canvas", "#world output"),
}

#: Notes of each turn of the wheel whether it is the map's; returns how far the page is scrolled.
_NOTE_WHEELS = """() => {
  window.wheels = [];
  addEventListener("wheel", event => wheels.push(event.defaultPrevented), { passive: true });
  return scrollY;
}"""


class Map:
    """A map of the page that a reader has open."""

    def __init__(self, reader: Reader, name: str) -> None:
        canvas, place = MAPS[name]
        self.page, self.wait = reader.page, reader.wait_for_maps
        self.canvas, self.place = self.page.locator(canvas), self.page.locator(place)
        self.root = self.page.locator(f"#{'ipv4' if name == 'addresses' else 'world'}")

    def press(self, *keys: str) -> str:
        """Press keys on the map; return what it tells then."""
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)
        self.wait()
        return self.place.inner_text()

    def touch(self) -> str:
        """Return which gestures of a finger on the map are the page's."""
        found: str = self.canvas.evaluate("each => getComputedStyle(each).touchAction")
        return found


@pytest.fixture(params=MAPS)
def drawn(page: Callable[[str], Path], reader: Reader, request: pytest.FixtureRequest) -> Map:
    reader.page.set_viewport_size({"width": 1000, "height": 700})
    reader.page.emulate_media(reduced_motion="reduce")  # so that scrolling is over at once
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
    assert drawn.place.inner_text() == ""


def test_the_wheel_scrolls_the_page_where_the_map_cannot_zoom(drawn: Map) -> None:
    drawn.canvas.hover()
    drawn.canvas.focus()
    before = drawn.page.evaluate(_NOTE_WHEELS)
    for count, distance in enumerate((-300, 300, 300), 1):  # larger, whole, and no further
        drawn.page.mouse.wheel(0, distance)
        drawn.page.wait_for_function("count => wheels.length === count", arg=count)
    assert drawn.page.evaluate("wheels") == [True, True, False]
    drawn.page.wait_for_function("before => scrollY > before", arg=before)


def test_a_finger_scrolls_the_page_over_a_whole_map(drawn: Map) -> None:
    assert drawn.touch() == "pan-y"
    drawn.root.get_by_role("button", name="Zoom in").click()
    drawn.wait()
    assert drawn.touch() == "none"
    drawn.root.get_by_role("button", name="Whole map").click()
    drawn.wait()
    assert drawn.touch() == "pan-y"


def test_a_page_that_is_zoomed_draws_maps_of_the_same_size_anew(drawn: Map) -> None:
    def sizes() -> list[int]:
        found: list[int] = drawn.canvas.evaluate("each => [each.clientWidth, each.width]")
        return found

    session = drawn.page.context.new_cdp_session(drawn.page)
    for density in (1, 1.25, 1):
        size = {"width": int(2400 / density), "height": 900}
        metrics = {**size, "deviceScaleFactor": density, "mobile": False}
        session.send("Emulation.setDeviceMetricsOverride", metrics)
        drawn.wait()
        across, pixels = sizes()
        assert pixels == pytest.approx(across * density, abs=1)


def test_high_contrast_keeps_the_colours_that_a_legend_explains(drawn: Map) -> None:
    legend = drawn.root.locator(".address-map-swatch, .world-colours").first
    background = "each => getComputedStyle(each).background"
    before = legend.evaluate(background)
    drawn.page.emulate_media(forced_colors="active")
    assert legend.evaluate(background) == before
