"""The scripts of address maps, in Chromium, against slow plain definitions in Python.

The page's own script unpacks maps: random ones, and one with rare numbers.
"""

from __future__ import annotations

import ipaddress
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

import geolookup
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import View
from geolookup.pictures.packing import pack
from tests.browser import OF_PAGES, Reader
from tests.pictures import hilbert
from tests.pictures.random_views import views
from tests.pictures.test_packing import many_labels

pytestmark = OF_PAGES
_ASSETS = Path(geolookup.__file__).parent / "reports" / "assets"
_PREFIXES = (
    "0.0.0.1", "255.255.255.255", "8.8.8.8/0", "1.2.3.4/31", "::", "::1/128", "1::/16",
    "2001:DB8::1", "1:0:0:2:0:0:0:3", "1:0:0:2::", "0:1::2:0:0/99",
    "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
)  # fmt: skip
_REFUSED = (
    "", "x", "1.2.3", "1.2.3.4.5", "01.2.3.4", "256.1.1.1", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/-1",
    ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8::", "::/129", "12345::",
    "g::", "::1 2",
)  # fmt: skip


@pytest.fixture
def scripts(reader: Reader) -> Reader:
    """An empty page with the functions that draw and write."""
    for name in ("curve", "texts", "ranges", "raster", "window"):
        reader.page.add_script_tag(path=_ASSETS / "address_map" / f"{name}.js")
    return reader


def test_points_and_cells_are_those_of_the_curve(scripts: Reader) -> None:
    selection = random.Random(1)
    for order in (1, 2, 3, 16, 17, 22):
        numbers = [0, 4**order - 1, *(selection.randrange(4**order) for _ in range(50))]
        columns, rows = hilbert.points(np.array(numbers, np.uint64), order)
        evaluation = scripts.page.evaluate(
            """([cells, order]) => cells.map((cell) => {
              const { column, row } = curvePoint(cell, order);
              return [column, row, curveCell(column, row, order)];
            })""",
            [numbers, order],
        )
        expected = zip(columns.tolist(), rows.tolist(), numbers, strict=True)
        assert [tuple(item) for item in evaluation] == list(expected)


def test_addresses_are_written_as_python_writes_them(scripts: Reader) -> None:
    selection = random.Random(2)
    # Groups of zeros are frequent: each form of "::" occurs.
    six = [
        sum(selection.choice((0, 0, selection.randrange(65536))) << 16 * at for at in range(8))
        for _ in range(500)
    ]
    four = [0, 2**32 - 1, *(selection.randrange(2**32) for _ in range(50))]
    written = "([family, all]) => all.map((each) => addressText(family, BigInt(each)))"
    evaluation = scripts.page.evaluate(written, [6, [str(item) for item in six]])
    assert evaluation == [str(ipaddress.IPv6Address(item)) for item in six]
    evaluation = scripts.page.evaluate(written, [4, [str(item) for item in four]])
    assert evaluation == [str(ipaddress.IPv4Address(item)) for item in four]


def test_prefixes_are_read_as_python_reads_them(scripts: Reader) -> None:
    read = """(all) => all.map((text) => {
      const found = parsePrefix(text);
      return found && [found.family, String(found.address), found.length];
    })"""
    networks = [ipaddress.ip_network(item, strict=False) for item in _PREFIXES]
    expected = [
        [network.version, str(int(network.network_address)), network.prefixlen]
        for network in networks
    ]
    assert scripts.page.evaluate(read, _PREFIXES) == expected
    assert scripts.page.evaluate(read, _REFUSED) == [None] * len(_REFUSED)


_UNPACK = """async json => {
  const map = await unpackMap(JSON.parse(json));
  const views = map.views.map(each => ({...each, values: [...each.values]}));
  return {...map, blocks: map.blocks.map(String), starts: [...map.starts], views};
}"""


@pytest.fixture
def unpacking(reader: Reader, tmp_path: Path) -> Reader:
    """A page with only the script; classic, with global functions."""
    script = "".join((_ASSETS / name).read_text("utf-8") for name in ("page_data.js", "unpack.js"))
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><title>Test</title><script>{script}</script>", "utf-8")
    reader.open(page.as_uri())
    return reader


def _check(reader: Reader, shown: AddressMap) -> None:
    evaluation: dict[str, Any] = reader.page.evaluate(_UNPACK, json.dumps(pack(shown)))
    space = shown.space
    assert evaluation["starts"] == shown.starts.tolist()
    assert [int(block) for block in evaluation["blocks"]] == list(space.blocks)
    assert [evaluation[name] for name in ("family", "order", "cellBits", "blockBits")] == [
        *(space.family, space.order, space.cell_bits, space.block_bits),
    ]
    for view, values, unpacked in zip(shown.views, shown.values, evaluation["views"], strict=True):
        assert unpacked["values"] == values.tolist()
        assert unpacked["labels"] == [" ".join(label.split()) for label in view.labels]
        assert unpacked["colours"] == list(view.colours)
        assert (unpacked["name"], unpacked["title"]) == (view.name, view.title)


def test_random_maps(unpacking: Reader) -> None:
    @settings(max_examples=30)
    @given(views)
    def check(listed: list[View]) -> None:
        shown = address_map(listed)
        assume(shown.space.blocks)
        _check(unpacking, shown)

    check()


def test_rare_numbers(unpacking: Reader) -> None:
    _check(unpacking, address_map(many_labels(2)))
