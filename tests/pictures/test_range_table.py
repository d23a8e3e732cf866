"""The table of ranges: its inverse returns them, and the finest cells that fit are kept."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.internals.dataset import Addresses
from tests.internals.pictures import (
    Space,
    View,
    address_map,
    deflate,
    pack_numbers,
    pack_table,
    table_within,
    view_of,
)
from tests.pictures.random_views import value_at, views
from tests.pictures.test_address_map import first_address
from tests.tiers import scaled


def inflated(text: str) -> bytes:
    """Return the bytes of a text, as ``reports/assets/address_map/ranges.js`` does."""
    return zlib.decompress(b64decode(text), wbits=-zlib.MAX_WBITS) if text else b""


def unpacked(text: str, count: int) -> list[int]:
    """Return what ``pack_numbers`` packed."""
    planes = inflated(text)
    return [int.from_bytes(planes[at::count], "little") for at in range(count)]


@given(st.binary(max_size=300))
def test_the_inverse_returns_the_bytes(data: bytes) -> None:
    text = deflate(data)
    assert inflated(text) == data
    assert json.dumps(text) == f'"{text}"'
    assert not set(text) & set('<&"\\\n')


@given(st.lists(st.integers(0, 2**53)))
def test_the_inverse_returns_the_numbers(numbers: list[int]) -> None:
    assert unpacked(pack_numbers(np.array(numbers, np.uint64)), len(numbers)) == numbers


@settings(max_examples=scaled(8, 60))
@given(views, st.data())
def test_a_table_has_each_view_at_the_first_address_of_a_cell(
    listed: list[View], data: st.DataObject
) -> None:
    whole = address_map(listed)
    space = whole.space
    assume(space.blocks)
    bits = data.draw(st.integers(0, space.block_bits - space.cell_bits))
    table = pack_table(whole.coarser(bits))
    lengths = unpacked(table["lengths"], table["ranges"] - 1)
    starts = [0, *np.cumsum(lengths).tolist()]
    assert starts[-1] << bits < space.cell_count
    for view, packed in zip(listed, table["views"], strict=True):
        labels = inflated(packed["labels"]).decode().split("\n")
        assert labels == [" ".join(label.split()) for label in view.labels]
        values = unpacked(packed["values"], table["ranges"])
        for position, start in enumerate(starts):
            _same(view, space, start << bits, values[position])
            last = [*starts, space.cell_count >> bits][position + 1] - 1
            _same(view, space, last << bits, values[position])


def _same(view: View, space: Space, cell: int, label: int) -> None:
    assert label == value_at(view, first_address(space, cell))


@settings(max_examples=scaled(6, 40))
@given(st.integers(1, 4_000))
def test_the_finest_cells_that_fit_are_kept(limit: int) -> None:
    starts = Addresses.of(4, [index * 12_345_677 for index in range(300)])
    values: NDArray[np.uint32] = (np.arange(300) % 7 + 1).astype(np.uint32)
    shown = address_map([view_of("v", "V", "", starts, values, list("abcdef"))])
    table = table_within(shown, limit)
    bits = table["range_bits"]
    assert table == pack_table(shown.coarser(bits))
    assert len(json.dumps(table)) <= limit or bits == 32
    assert not bits or len(json.dumps(pack_table(shown.coarser(bits - 1)))) > limit
