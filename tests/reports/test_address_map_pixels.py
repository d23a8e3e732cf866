"""A map at the scale of single addresses: each pixel against the views of the dataset."""

from __future__ import annotations

import base64
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.values import read_tables
from geolookup.dataset.files import Dataset
from geolookup.pictures import hilbert
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.reports.dataset.views import dataset_views
from tests.browser import OF_PAGES, Reader
from tests.reports.pages import BUNDLED

pytestmark = OF_PAGES
_PIXELS = """canvas => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return btoa(Array.from(data, (each) => String.fromCharCode(each)).join(""));
}"""


def test_each_pixel_of_a_16_has_the_colour_of_its_address(
    page: Callable[[str], Path], reader: Reader
) -> None:
    dataset = Dataset(BUNDLED)
    shown = address_map(dataset_views(dataset, read_tables(dataset), 4))
    # The /16 with the most ranges.
    number = int(np.bincount((shown.starts >> np.uint64(16)).astype(np.int64)).argmax())
    painted = _painted(reader, page("bundled"), f"{IPv4Address(number << 16)}/16")
    expected = _expected(shown, number << 16)
    places = ((np.arange(len(painted)) + 0.5) * 256 / len(painted)).astype(np.int64)
    assert np.array_equal(painted, expected[np.ix_(places, places)])
    assert len(np.unique(expected, axis=None)) > 5


def _painted(reader: Reader, path: Path, prefix: str) -> NDArray[np.uint8]:
    """Return the pixels of the canvas after going to a prefix: shape (size, size, 4)."""
    reader.page.set_viewport_size({"width": 1000, "height": 900})
    reader.page.goto(path.as_uri())
    root = reader.page.locator('.address-map[data-name="ipv4"][data-ready]')
    root.locator(".address-map-sought").fill(prefix)
    root.locator(".address-map-go button").click()
    root.locator(".address-map-zoomed").wait_for()
    reader.wait_for_maps()
    text: str = root.locator(".address-map-colours").evaluate(_PIXELS)
    pixels = np.frombuffer(base64.b64decode(text), np.uint8)
    size = int((len(pixels) // 4) ** 0.5)
    return pixels.reshape(size, size, 4)


def _expected(shown: AddressMap, first: int) -> NDArray[np.uint8]:
    """Return the colour of each address of a /16 by country: shape (256, 256, 4)."""
    addresses = np.arange(first, first + 2**16, dtype=np.uint64)
    labels = shown.values[0][np.searchsorted(shown.starts, addresses, side="right") - 1]
    hexes = shown.views[0].colours
    colours = np.array([[*bytes.fromhex(each[1:]), 255] for each in hexes], np.uint8)
    columns, rows = hilbert.points(addresses, 16)
    picture = np.zeros((256, 256, 4), np.uint8)
    places = rows - rows.min(), columns - columns.min()
    picture[places] = colours[np.minimum(labels, len(colours) - 1)]
    return picture
