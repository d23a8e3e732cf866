"""The address maps of the bundled dataset in headless Chromium, against lookups in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv4Network, ip_address, ip_network
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pytest

import geolookup
from tests.browser import OF_PAGES, Reader
from tests.cli.program import run
from tests.conftest import Build
from tests.pictures import hilbert
from tests.reports.conftest import BUNDLED

pytestmark = OF_PAGES
#: Well-known networks of ten countries.
KNOWN = (
    *("3.0.0.0/10", "17.0.0.0/9", "53.0.0.0/9", "126.0.0.0/10", "25.0.0.0/9"),
    *("41.128.0.0/13", "49.64.0.0/11", "90.0.0.0/11", "112.128.0.0/11", "177.32.0.0/13"),
)
_ORDER = 16
#: A canvas's pixel at a place of its box, from 0 to 1.
_PIXEL = """(canvas, [x, y]) => {
  const at = [Math.floor(x * canvas.width), Math.floor(y * canvas.height)];
  const [red, green, blue, alpha] = canvas.getContext("2d").getImageData(...at, 1, 1).data;
  return alpha === 255 ? `rgb(${red}, ${green}, ${blue})` : "muted";
}"""
_LEGEND = """root => Object.fromEntries([...root.querySelectorAll(".address-map-legend li")].map(
  each => [each.querySelector(".address-map-label").textContent,
           getComputedStyle(each.querySelector(".address-map-swatch")).backgroundColor]))"""
_DETAILS = """root => Object.fromEntries([...root.querySelectorAll(".address-map-place dt")].map(
  each => [each.textContent, each.nextElementSibling.textContent]))"""


class Point(NamedTuple):
    """A pixel of the whole map: its middle from 0 to 1, and the first address that it shows."""

    x: float
    y: float
    address: IPv4Address


class Map:
    """The map of a family on the page that a reader has open."""

    def __init__(self, reader: Reader, name: str = "ipv4") -> None:
        self.page, self.reader = reader.page, reader
        self.root = self.page.locator(f'.address-map[data-name="{name}"]')
        self.colours = self.root.locator(".address-map-colours")
        self.overlay = self.root.locator(".address-map-overlay")

    def place_of(self, network: str) -> Point:
        """Return the place of the middle of a network while the whole map is shown."""
        pixels = self.colours.evaluate("canvas => canvas.width")
        level = int(np.floor(np.log2(2**_ORDER / pixels)))
        middle = int(ip_network(network)[0]) + ip_network(network).num_addresses // 2
        cells = np.array([middle], np.uint64)
        column, row = (int(point[0]) for point in hilbert.points(cells, _ORDER))
        x, y = (int(item * pixels / 2**_ORDER) + 0.5 for item in (column, row))
        square = [np.array([int(item * 2**_ORDER / pixels) >> level], np.uint64) for item in (x, y)]
        first = int(hilbert.cells(square[0], square[1], _ORDER - level)[0]) << 2 * level
        return Point(x / pixels, y / pixels, IPv4Address(first))

    def shows(self) -> dict[str, str]:
        """Return what the map says of the place that is pointed at, after all changes."""
        evaluation: dict[str, str] = self.drawn().root.evaluate(_DETAILS)
        return evaluation

    def go_to(self, text: str) -> str:
        """Seek an address or prefix; returns the message."""
        self.root.locator(".address-map-sought").fill(text)
        self.root.locator(".address-map-go button").click()
        return self.root.locator(".address-map-message").inner_text()

    def drawn(self) -> Self:
        self.reader.wait_for_maps()
        return self

    def pixel(self, spot: Point) -> str:
        """Return the colour of a place after all changes."""
        evaluation: str = self.drawn().colours.evaluate(_PIXEL, [spot.x, spot.y])
        return evaluation


@pytest.fixture
def ipv4(page: Callable[[str], Path], reader: Reader) -> Map:
    reader.page.set_viewport_size({"width": 1600, "height": 1200})
    reader.page.goto(page("bundled").as_uri())
    return Map(reader).drawn()


@pytest.fixture(scope="module")
def engine() -> Iterator[geolookup.Engine]:
    with geolookup.open(BUNDLED) as engine:
        yield engine


def _country(engine: geolookup.Engine, address: object) -> str:
    actual = engine.data(str(address))["location"]
    return f"{actual['country_name']} ({actual['country_code']})"


def test_a_place_has_the_colour_of_its_country_and_tells_its_answer(
    ipv4: Map, engine: geolookup.Engine
) -> None:
    for scheme in ("dark", "light"):
        ipv4.page.emulate_media(color_scheme=scheme)
        legend = ipv4.root.evaluate(_LEGEND)
        others = next(colour for label, colour in legend.items() if label.endswith(" others"))
        for network in KNOWN:
            spot = ipv4.place_of(network)
            wanted = legend.get(_country(engine, spot.address), others)
            assert ipv4.pixel(spot) == wanted, (scheme, network)
    assert len({_country(engine, ipv4.place_of(item).address) for item in KNOWN} & {*legend}) > 4
    for network in KNOWN:
        spot = ipv4.place_of(network)
        ipv4.overlay.scroll_into_view_if_needed()
        box = ipv4.overlay.bounding_box()
        assert box is not None
        before = ipv4.shows()
        ipv4.page.mouse.move(box["x"] + spot.x * box["width"], box["y"] + spot.y * box["height"])
        ipv4.page.wait_for_function(
            f"before => JSON.stringify(({_DETAILS})(document.querySelector('#ipv4'))) !== before",
            arg=json.dumps(before, separators=(",", ":")),
        )
        shown = ipv4.shows()
        assert spot.address in IPv4Network(shown["Prefix"]), network
        _assert_is_answer(shown, engine, str(spot.address))


def _assert_is_answer(shown: dict[str, str], engine: geolookup.Engine, address: str) -> None:
    """The map shows the answer for the address, and it holds for all of the prefix."""
    prefix = ip_network(shown["Prefix"])
    assert ip_network(engine.answer(address).prefix).subnet_of(prefix)  # type: ignore[arg-type]
    for item in (address, str(prefix[0]), str(prefix[-1])):
        assert shown["Country"] == _country(engine, item)
        asn = engine.data(item)["network"]["asn"]
        assert shown["AS"].partition(" ")[0] == (f"AS{asn}" if asn else "unknown")


def test_an_address_is_found_and_shown_alone(ipv4: Map, engine: geolookup.Engine) -> None:
    for text in ("8.8.8.8", "1.1.1.0/24", "193.0.6.139", "2001:4860:4860::8888"):
        selection = Map(ipv4.reader, "ipv6") if ":" in text else ipv4
        assert selection.go_to(text) == ""
        shown, address = selection.shows(), text.partition("/")[0]
        assert ip_address(address) in ip_network(shown["Prefix"])
        assert "In this pixel" not in shown
        _assert_is_answer(shown, engine, address)
        legend = selection.root.evaluate(_LEGEND)
        others = next(colour for label, colour in legend.items() if label.endswith(" others"))
        middle = Point(0.5, 0.5, IPv4Address(0))
        assert selection.pixel(middle) == legend.get(_country(engine, address), others), text


def test_what_is_not_on_the_map_is_said(ipv4: Map) -> None:
    for text in ("", "8.8.8", "<b>8.8.8.8", "1.2.3.4/33", "2001:db8::1"):
        message = ipv4.go_to(text)
        assert ("IPv4 addresses" if "::" in text else text) in message
        assert ipv4.shows() == {}


def test_shares_of_an_address_map(reader: Reader, tmp_path: Path, build: Build) -> None:
    dataset, _ = build({"a.csv": _WHOLE})
    output = tmp_path / "page.html"
    done = run("report", str(dataset), "--output", str(output))
    assert done.returncode == 0, done.stderr
    reader.open(output.as_uri())
    reader.wait_for_maps()
    views = reader.page.locator("#ipv4 .address-map-views input")
    assert views.count() == len(_SHARES)
    for at, expected in enumerate(_SHARES):
        views.nth(at).check()
        reader.wait_for_maps()
        rows = reader.page.locator("#ipv4 .address-map-legend li").all()
        shares = {
            row.locator(".address-map-label").inner_text(): row.locator(
                ".address-map-share"
            ).inner_text()
            for row in rows
        }
        assert {label: shares[label] for label in expected} == expected


#: Blocks whose shares of IPv4 are not ties of rounding.
_WHOLE = """network,country_code,region_name,city_name,asn,asn_organization
64.0.0.0/3,US,,,1,One
32.0.0.0/4,DE,Bavaria,,2,Two
16.0.0.0/6,FR,,Paris,1,One
"""
_SHARES: list[dict[str, str]] = [
    {"United States (US)": "12.50 %", "Germany (DE)": "6.25 %", "France (FR)": "1.56 %"},
    {"country": "12.50 %", "region": "6.25 %", "city": "1.56 %"},
    {"AS1 One": "14.06 %", "AS2 Two": "6.25 %"},
    {"a.csv": "20.31 %"},
    {"no date stated": "20.31 %"},
]
