"""Address maps: blocks, cells, joint partitions of views, the Hilbert curve, pixels."""

from __future__ import annotations

import io
import itertools
from base64 import b64decode
from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.internals.contract import BITS
from tests.internals.pictures import (
    NOTHING,
    UNKNOWN,
    AddressMap,
    Space,
    View,
    address_map,
    layers_within,
    pixels,
    png,
)
from tests.pictures import hilbert
from tests.pictures.random_views import starts_in, value_at, views
from tests.skips import needs, optional
from tests.tiers import scaled


def first_address(space: Space, cell: int) -> int:
    """The first address of a cell, by the definition of a space."""
    block, within = divmod(cell, 1 << space.block_bits - space.cell_bits)
    return (space.blocks[block] << space.block_bits) + (within << space.cell_bits)


def cell_of(space: Space, address: int) -> int | None:
    """The cell that holds an address; None for one that is not on the curve."""
    for number, block in enumerate(space.blocks):
        within = address - (block << space.block_bits)
        if 0 <= within < 1 << space.block_bits:
            return (number << space.block_bits - space.cell_bits) + (within >> space.cell_bits)
    return None


@given(views)
def test_the_blocks_are_the_prefixes_in_which_anything_is_known(listed: list[View]) -> None:
    space = address_map(listed).space
    if space.family == 4:
        assert (space.blocks, space.block_bits, space.cell_bits) == ((0,), 32, 0)
        return
    known = set()
    for view in listed:
        starts = starts_in(view)
        for start, end, label in zip(starts, [*starts[1:], 1 << 128], view.values, strict=True):
            if label > UNKNOWN:
                known |= set(range(start >> space.block_bits, (end - 1 >> space.block_bits) + 1))
    assert (space.blocks, BITS[6] - space.block_bits) == (tuple(sorted(known)), 20)


def _check(shown: AddressMap, listed: list[View], cells: set[int]) -> None:
    starts = shown.starts
    assert starts[0] == 0
    assert np.all(starts[:-1] < starts[1:])
    for cell in sorted(item for item in cells if 0 <= item < shown.space.cell_count):
        at = int(np.searchsorted(starts, np.uint64(cell), side="right")) - 1
        expected = [value_at(view, first_address(shown.space, cell)) for view in listed]
        assert [int(values[at]) for values in shown.values] == expected
    rows = list(zip(*(values.tolist() for values in shown.values), strict=True))
    assert all(one != next_one for one, next_one in itertools.pairwise(rows))


def _near(shown: AddressMap, listed: list[View]) -> set[int]:
    """The cells at the starts of all intervals and blocks, and around them."""
    actual = {cell_of(shown.space, item) or 0 for view in listed for item in starts_in(view)}
    actual |= {number * shown.space.cells_per_block for number in range(len(shown.space.blocks))}
    return {cell + step for cell in actual for step in (-1, 0, 1)}


@settings(max_examples=scaled(8, 60))
@given(views, st.data())
def test_a_cell_shows_each_view_at_its_first_address(
    listed: list[View], data: st.DataObject
) -> None:
    shown = address_map(listed)
    assume(shown.space.blocks)
    _check(shown, listed, _near(shown, listed))
    bits = data.draw(st.integers(0, shown.space.block_bits - shown.space.cell_bits))
    coarse = shown.coarser(bits)
    assert coarse.space.cell_bits == shown.space.cell_bits + bits
    _check(coarse, listed, _near(coarse, listed))


@settings(max_examples=scaled(8, 60))
@given(views, st.data())
def test_a_label_has_the_share_of_its_cells(listed: list[View], data: st.DataObject) -> None:
    shown = address_map(listed)
    assume(shown.space.blocks)
    number = data.draw(st.integers(0, len(listed) - 1))
    sums = [0] * len(listed[number].labels)
    ends = [*shown.starts[1:].tolist(), shown.space.cell_count]
    for start, end, label in zip(shown.starts.tolist(), ends, shown.values[number], strict=True):
        sums[label] += end - start
    assert shown.shares(number).tolist() == [size / shown.space.cell_count for size in sums]


@settings(max_examples=scaled(10, 60))
@given(views, st.integers(1, 12), st.integers(3, 5))
def test_a_rare_label_of_any_address_is_the_one_of_its_cell(
    listed: list[View], bits: int, rare: int
) -> None:
    listed[0] = replace(listed[0], rare=rare)
    whole = address_map(listed)
    assume(whole.space.blocks)
    fine, shown = listed[0], whole.coarser(bits)
    ends = [*whole.starts[1:].tolist(), whole.space.cell_count]
    ranges = list(zip(whole.starts.tolist(), ends, whole.values[0].tolist(), strict=True))
    for at, start in enumerate(shown.starts.tolist()):
        cell = [start << bits, (start + 1) << bits]
        inside = [label for a, b, label in ranges if a < cell[1] and b > cell[0]]
        expected = min(
            (label for label in inside if 1 < label < rare),
            default=value_at(fine, first_address(shown.space, start)),
        )
        assert shown.values[0][at] == expected
        others = [value_at(view, first_address(shown.space, start)) for view in listed[1:]]
        assert [int(value[at]) for value in shown.values[1:]] == others
    for first, end, label in ranges:
        cells = np.array([first >> bits, end - 1 >> bits], np.uint64)
        at_cells = np.searchsorted(shown.starts, cells, side="right") - 1
        if 1 < label < rare:
            assert (shown.values[0][at_cells] <= label).all()


image = optional("PIL.Image")


@settings(max_examples=scaled(6, 40))
@given(views, st.integers(2, 4))
def test_a_pixel_shows_the_range_of_its_first_cell(listed: list[View], order: int) -> None:
    whole = address_map(listed)
    bits = 2 * (whole.space.order - order)
    assume(whole.space.blocks and bits <= whole.space.block_bits - whole.space.cell_bits)
    shown = whole.coarser(bits)
    assert shown.space.order == order
    square = pixels(shown, 0)
    assert square.shape == (1 << order, 1 << order)
    for cell in range(4**order):
        ((x,), (y,)) = hilbert.points(np.array([cell], np.uint64), order)
        expected = NOTHING
        if cell < shown.space.cell_count:
            label = value_at(listed[0], first_address(shown.space, cell))
            expected = min(label, len(listed[0].colours) - 1)
        assert square[y, x] == expected


@needs("PIL")
def test_the_png_has_the_colours_and_is_transparent_after_the_last_block() -> None:
    square = np.array([[0, 1], [NOTHING, 2]], np.uint8)
    drawn = image.open(io.BytesIO(png(square, ["#102030", "#ffffff40", "#0000ff"]))).convert("RGBA")
    assert drawn.getpixel((0, 0)) == (0x10, 0x20, 0x30, 255)
    assert drawn.getpixel((1, 0)) == (255, 255, 255, 0x40)
    assert drawn.getpixel((0, 1))[3] == 0
    assert drawn.getpixel((1, 1)) == (0, 0, 255, 255)


@needs("PIL")
@settings(max_examples=scaled(5, 30))
@given(views, st.integers(0, 20_000))
def test_layers_are_pictures_of_the_views_that_fit(listed: list[View], limit: int) -> None:
    whole = address_map(listed)
    assume(whole.space.blocks)
    bits, uris = layers_within(whole, limit)
    shown = whole.coarser(bits - whole.space.cell_bits)
    assert shown.space.order == 8 or sum(map(len, uris)) <= limit
    for number, uri in enumerate(uris):
        head, data = uri.split(",")
        assert head == "data:image/png;base64"
        square = np.asarray(image.open(io.BytesIO(b64decode(data))))
        assert np.array_equal(square, pixels(shown, number))
