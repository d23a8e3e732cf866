"""Address maps in a browser: pointers, keys and fingers, and the answer at the cursor."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.browser import OF_PAGES, Reader
from tests.datasets import SMALL
from tests.reports.conftest import MARKUP
from tests.reports.test_address_maps import expected_labels
from tests.tiers import scaled
from tests.walk import walk

pytestmark = OF_PAGES
Pages = Callable[[str], Path]
TITLES = {"country": "Country", "depth": "Finest level", "as": "AS", "source": "Source"}
#: The colour of the map near its middle, as #rrggbb.
_COLOUR = """canvas => {
  const copy = new OffscreenCanvas(1, 1).getContext("2d");
  copy.drawImage(canvas, canvas.width * 0.53, canvas.height * 0.53, 1, 1, 0, 0, 1, 1);
  const bytes = [...copy.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  return "#" + bytes.map(each => each.toString(16).padStart(2, "0")).join("");
}"""


class Map:
    """The map of a family on a page, as a reader uses it."""

    def __init__(self, reader: Reader, family: int) -> None:
        self.reader, self.root = reader, reader.page.locator(f"#ipv{family}")
        self.canvas = self.root.locator("canvas")
        self.drawn()

    def drawn(self) -> None:
        self.root.locator("[data-drawn]").wait_for()

    def find(self, text: str) -> str:
        """Find an address, a prefix or a name; returns what the map states."""
        self.root.get_by_label("Address, prefix or name").fill(text)
        self.root.get_by_role("button", name="Find").click()
        self.drawn()
        return self.root.get_by_role("status").inner_text()

    def colour_by(self, title: str) -> None:
        self.root.locator("label", has_text=re.compile(f"^{title}$")).click()
        self.drawn()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.canvas.press(key)
        self.drawn()

    def answer(self) -> dict[str, str]:
        """What the map answers at the cursor; empty if it is not on an address."""
        terms = self.root.locator("dt").all_inner_texts()
        return dict(zip(terms, self.root.locator("dd").all_inner_texts(), strict=True))


@pytest.fixture
def opened(page: Pages, reader: Reader) -> Callable[[str, int], Map]:
    def open_map(name: str, family: int) -> Map:
        reader.page.set_viewport_size({"width": 1200, "height": 1400})
        reader.open(page(name).as_uri())
        reader.wait_for_maps()
        return Map(reader, family)

    return open_map


def _starts(family: int) -> list[Any]:
    """First and last addresses of networks of the small dataset, and of special-purpose space."""
    with geolookup.open(SMALL) as engine:
        networks = [network for network, _ in walk(engine) if network.version == family]
    most = scaled(6, 40)
    chosen = networks[:: max(1, len(networks) // most)]
    return [address for network in chosen for address in (network[0], network[-1])]


@pytest.mark.parametrize("family", [4, 6])
def test_the_answer_at_the_cursor_is_that_of_the_first_address_of_a_cell(
    opened: Callable[[str, int], Map], family: int
) -> None:
    shown = opened("small", family)
    note = " ".join(shown.root.locator("p").all_inner_texts())
    length = re.search(r"first address of a /(\d+)", note)
    cell = int(length[1]) if length else 32
    with geolookup.open(SMALL) as engine:
        for address in _starts(family):
            if shown.find(str(address)):
                continue  # of IPv6, prefixes without any answer are not on the map
            first = ipaddress.ip_network((address, cell), strict=False)[0]
            actual = shown.answer()
            assert address in ipaddress.ip_network(actual["Prefix"])
            for name, label in expected_labels(engine, first).items():
                assert actual[TITLES[name]] == label, address


@pytest.mark.parametrize("title", TITLES.values())
def test_the_map_has_the_colour_of_the_legend(
    opened: Callable[[str, int], Map], title: str
) -> None:
    shown = opened("bundled", 4)
    shown.colour_by(title)
    legend = shown.root.locator(".address-map-legend:visible li")
    styles = legend.locator(".address-map-swatch")
    colours = {
        name: re.sub(r".*(#\w{6}).*", r"\1", styles.nth(at).get_attribute("style") or "")
        for at, name in enumerate(legend.locator(".address-map-label").all_inner_texts())
    }
    others = next((colour for name, colour in colours.items() if name.endswith(" others")), "")
    for prefix in ("10.0.0.0/8", "224.0.0.0/4", "53.0.0.0/8", "25.0.0.0/8", "126.0.0.0/8"):
        assert shown.find(prefix) == ""
        # The mark of the cursor is not in the middle: the prefix is a square or two.
        actual = shown.canvas.evaluate(_COLOUR)
        assert actual == colours.get(shown.answer()[title], others), prefix


def test_a_label_is_highlighted_by_a_part_of_its_name(opened: Callable[[str, int], Map]) -> None:
    shown = opened("bundled", 4)
    assert shown.find("germ") == "Highlighted: Germany (DE)"
    # A whole word comes before a part of a word of a larger country.
    assert shown.find("it") == "Highlighted: Italy (IT)"
    assert shown.find("india") == "Highlighted: India (IN)"
    # The prefix that was found before might hold nothing of it.
    shown.find("10.0.0.0/8")
    assert shown.find("de") == "Highlighted: Germany (DE)"
    assert "address-map-zoomed" not in (shown.canvas.get_attribute("class") or "")
    pressed = shown.root.locator("[aria-pressed=true]:visible")
    assert "Germany (DE)" in pressed.inner_text()
    shown.find("53.0.0.0/8")
    assert shown.canvas.evaluate(_COLOUR) == "#aa77aa"
    shown.find("25.0.0.0/8")
    assert shown.canvas.evaluate(_COLOUR) != "#004477"  # veiled
    pressed.click()
    assert pressed.count() == 0


@pytest.mark.parametrize(
    "text", ["8.8.8", "08.8.8.8", "8.8.8.8/33", "::/129", "no such country", "2001:db8::1"]
)
def test_a_text_that_is_neither_an_address_nor_a_name_is_refused(
    opened: Callable[[str, int], Map], text: str
) -> None:
    stated = opened("bundled", 4).find(text)
    assert stated == f"“{text}” is neither an IPv4 address of this map nor a name of this view."


def test_keys_move_the_cursor_and_zoom(opened: Callable[[str, int], Map]) -> None:
    shown = opened("bundled", 4)
    shown.press("ArrowRight")
    prefixes = [shown.answer()["Prefix"]]
    for key in ("ArrowDown", "ArrowLeft", "ArrowUp"):
        shown.press(*[key] * 20)
        prefixes.append(shown.answer()["Prefix"])
    assert len(set(prefixes)) == len(prefixes)
    shown.press("+")
    assert shown.answer()["Prefix"] == prefixes[-1]
    assert shown.root.locator("canvas.address-map-zoomed").count() == 1
    shown.press("Home")
    assert shown.root.locator("canvas.address-map-zoomed").count() == 0
    assert set(shown.answer().values()) == {""}


def test_the_wheel_scrolls_the_page_until_the_map_has_the_focus(
    opened: Callable[[str, int], Map],
) -> None:
    shown = opened("bundled", 4)
    page = shown.reader.page
    zoomed = shown.root.locator("canvas.address-map-zoomed")
    page.set_viewport_size({"width": 1200, "height": 700})
    shown.canvas.hover()
    page.mouse.wheel(0, -100)
    shown.drawn()
    assert zoomed.count() == 0
    shown.canvas.focus()
    page.mouse.wheel(0, -100)
    zoomed.wait_for()


def test_two_fingers_zoom_and_one_moves(opened: Callable[[str, int], Map]) -> None:
    shown = opened("bundled", 4)

    def touch(kind: str, finger: int, x: int, y: int) -> None:
        box: Any = shown.canvas.bounding_box()
        place = {"clientX": box["x"] + x, "clientY": box["y"] + y}
        shown.canvas.evaluate("canvas => { canvas.setPointerCapture = () => {}; }")
        event = {"pointerId": finger, "pointerType": "touch", "bubbles": True, **place}
        shown.canvas.dispatch_event(kind, event)

    touch("pointerdown", 1, 100, 100)
    touch("pointerdown", 2, 200, 200)
    touch("pointermove", 2, 300, 300)  # twice the distance
    touch("pointerup", 1, 100, 100)
    touch("pointerup", 2, 300, 300)
    shown.root.locator("canvas.address-map-zoomed").wait_for()
    touch("pointerdown", 1, 300, 300)
    touch("pointerup", 1, 300, 300)
    shown.drawn()
    before = shown.answer()["Prefix"]
    touch("pointerdown", 1, 300, 300)
    touch("pointermove", 1, 200, 200)
    touch("pointerup", 1, 200, 200)
    touch("pointerdown", 1, 200, 200)  # what was at 300, 300 is here now
    touch("pointerup", 1, 200, 200)
    shown.drawn()
    assert shown.answer()["Prefix"] == before


def test_names_are_texts(opened: Callable[[str, int], Map]) -> None:
    shown = opened("hostile", 4)
    assert shown.find("8.8.8.8") == ""
    assert MARKUP[:40] in shown.answer()["AS"]
    assert shown.root.locator("img:visible").count() <= 1
