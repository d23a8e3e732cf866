"""Address maps: cells against ipaddress, joint partitions of views, the Hilbert curve, pixels."""

from __future__ import annotations

import io
import ipaddress
import itertools
from base64 import b64decode

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.internals.pictures import (
    IPV4,
    NOTHING,
    AddressMap,
    Space,
    View,
    address_map,
    layers,
    pixels,
    png,
)
from tests.pictures import hilbert
from tests.pictures.random_views import starts_in, value_at, views
from tests.skips import needs, optional
from tests.tiers import scaled

IPV6 = Space(6, 17, 80, 112, (0x2001 << 112, 0x2A00 << 112, 0x2A01 << 112))


def cell_of(space: Space, address: int) -> int | None:
    """The cell that holds an address, by its definition; None for one that is not on the curve."""
    for number, block in enumerate(space.blocks):
        if 0 <= address - block < 1 << space.block_bits:
            return number * space.cells_per_block + (address - block >> space.cell_bits)
    return None


@given(st.sampled_from((IPV4, IPV4.coarser(4), IPV6, IPV6.coarser(3))), st.data())
def test_a_cell_is_a_network_of_its_block(space: Space, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, space.cell_count - 1))
    address = space.first_address(cell)
    kind = ipaddress.IPv4Network if space.family == 4 else ipaddress.IPv6Network
    width = 32 if space.family == 4 else 128
    network = kind((address, width - space.cell_bits))
    blocks = [kind((block, width - space.block_bits)) for block in space.blocks]
    (at,) = (at for at, block in enumerate(blocks) if network.subnet_of(block))  # type: ignore[arg-type]
    assert cell // space.cells_per_block == at
    assert cell_of(space, int(network[0])) == cell_of(space, int(network[-1])) == cell


def _check(shown: AddressMap, listed: list[View], cells: set[int]) -> None:
    starts = shown.starts
    assert starts[0] == 0
    assert np.all(starts[:-1] < starts[1:])
    for cell in sorted(item for item in cells if 0 <= item < shown.space.cell_count):
        at = int(np.searchsorted(starts, np.uint64(cell), side="right")) - 1
        expected = [value_at(view, shown.space.first_address(cell)) for view in listed]
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
    steps = data.draw(st.integers(0, shown.space.block_order))
    coarse = shown.coarser(steps)
    assert coarse.space.cell_bits == shown.space.cell_bits + 2 * steps
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


image = optional("PIL.Image")


@settings(max_examples=scaled(6, 40))
@given(views, st.integers(2, 4))
def test_a_pixel_shows_the_range_of_its_first_cell(listed: list[View], order: int) -> None:
    whole = address_map(listed)
    least = whole.space.order - whole.space.block_order
    assume(whole.space.blocks and least <= order)
    shown = whole.coarser(whole.space.order - order)
    square = pixels(shown, 0)
    assert square.shape == (1 << order, 1 << order)
    for cell in range(4**order):
        ((x,), (y,)) = hilbert.points(np.array([cell], np.uint64), order)
        expected = NOTHING
        if cell < shown.space.cell_count:
            label = value_at(listed[0], shown.space.first_address(cell))
            expected = min(label, len(listed[0].colours) - 1)
        assert square[y, x] == expected


@needs("PIL")
def test_the_png_has_the_colours_and_is_transparent_after_the_last_block() -> None:
    square = np.array([[0, 1], [NOTHING, 2]], np.uint8)
    drawn = image.open(io.BytesIO(png(square, ["#102030", "#ffffff", "#0000ff"]))).convert("RGBA")
    assert drawn.getpixel((0, 0)) == (0x10, 0x20, 0x30, 255)
    assert drawn.getpixel((1, 0)) == (255, 255, 255, 255)
    assert drawn.getpixel((0, 1))[3] == 0
    assert drawn.getpixel((1, 1)) == (0, 0, 255, 255)


@needs("PIL")
@settings(max_examples=scaled(5, 30))
@given(views, st.integers(0, 20_000))
def test_the_last_views_lose_pixels_first_until_the_layers_fit(
    listed: list[View], limit: int
) -> None:
    whole = address_map(listed)
    assume(whole.space.blocks)
    drawn = layers(whole, limit)
    bits = [layer.pixel_bits for layer in drawn]
    assert bits == sorted(bits)
    assert bits[-1] - bits[0] in (0, 2)  # one halving of both sides
    if bits[0] < whole.space.block_bits:
        assert sum(len(layer.uri) for layer in drawn) <= limit
    for number, layer in enumerate(drawn):
        shown = whole.coarser((layer.pixel_bits - whole.space.cell_bits) // 2)
        head, data = layer.uri.split(",")
        assert head == "data:image/png;base64"
        square = np.asarray(image.open(io.BytesIO(b64decode(data))))
        assert np.array_equal(square, pixels(shown, number))
