"""The page's own script unpacks maps: random ones, and one with rare numbers, in Chromium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings

from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.packing import packed
from geolookup.pictures.views import View
from tests.browser import OF_PAGES, Reader
from tests.pictures.random_views import views
from tests.pictures.test_packing import many_labels

_ASSETS = Path(__file__).parents[2] / "geolookup" / "reports" / "assets"
_UNPACK = """async json => {
  const map = await unpackMap(JSON.parse(json));
  const views = map.views.map(each => ({...each, values: [...each.values]}));
  return {...map, blocks: map.blocks.map(String), starts: [...map.starts], views};
}"""

pytestmark = OF_PAGES


@pytest.fixture
def unpacking(reader: Reader, tmp_path: Path) -> Reader:
    """A page with the script alone; classic, so that its functions are global."""
    script = "".join((_ASSETS / name).read_text("utf-8") for name in ("inflate.js", "unpack.js"))
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><title>Test</title><script>{script}</script>", "utf-8")
    reader.open(page.as_uri())
    return reader


def _check(reader: Reader, shown: AddressMap) -> None:
    found: dict[str, Any] = reader.page.evaluate(_UNPACK, json.dumps(packed(shown)))
    space = shown.space
    assert found["starts"] == shown.starts.tolist()
    assert [int(block) for block in found["blocks"]] == list(space.blocks)
    assert [found[name] for name in ("family", "order", "cellBits", "blockBits")] == [
        *(space.family, space.order, space.cell_bits, space.block_bits),
    ]
    for view, values, unpacked in zip(shown.views, shown.values, found["views"], strict=True):
        assert unpacked["values"] == values.tolist()
        assert unpacked["labels"] == [" ".join(label.split()) for label in view.labels]
        assert unpacked["colours"] == list(view.colours)
        assert (unpacked["name"], unpacked["title"]) == (view.name, view.title)


def test_random_maps(unpacking: Reader) -> None:
    @settings(max_examples=60)
    @given(views)
    def check(listed: list[View]) -> None:
        shown = address_map(listed)
        assume(shown.space.blocks)
        _check(unpacking, shown)

    check()


def test_rare_numbers(unpacking: Reader) -> None:
    _check(unpacking, address_map(many_labels(2)))
