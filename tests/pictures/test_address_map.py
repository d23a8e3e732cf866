"""Address maps: cells against ipaddress, joint partitions of views, the Hilbert curve, pixels."""

from __future__ import annotations

import io
import ipaddress
import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.address_space import IPV4, Space, View
from geolookup.pictures.map_picture import NOTHING, along_curve, pixels, png
from tests.pictures import hilbert
from tests.pictures.random_views import starts_in, value_at, views
from tests.skips import needs, optional
from tests.tiers import scaled

IPV6 = Space(6, 17, 80, 112, (0x2001 << 112, 0x2A00 << 112, 0x2A01 << 112))


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
    assert space.cell(int(network[0])) == space.cell(int(network[-1])) == cell


def test_outside_the_blocks() -> None:
    for text in ("::", "2000:ffff::", "2002::", "2a02::", "ffff::"):
        assert IPV6.cell(int(ipaddress.ip_address(text))) is None, text
    with pytest.raises(IndexError):
        IPV6.first_address(IPV6.cell_count)


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
    actual = {shown.space.cell(item) or 0 for view in listed for item in starts_in(view)}
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


def _drawn(order: int) -> list[tuple[int, int]]:
    """The curve by its definition: four smaller ones, the first and last of them turned."""
    if order == 0:
        return [(0, 0)]
    smaller, half = _drawn(order - 1), 1 << order - 1
    return [
        *((y, x) for x, y in smaller),
        *((x, y + half) for x, y in smaller),
        *((x + half, y + half) for x, y in smaller),
        *((2 * half - 1 - y, half - 1 - x) for x, y in smaller),
    ]


def test_the_curve_is_that_of_the_definition() -> None:
    for order in range(7):
        x, y = hilbert.points(np.arange(4**order, dtype=np.uint64), order)
        assert list(zip(x.tolist(), y.tolist(), strict=True)) == _drawn(order)
        assert hilbert.cells(x, y, order).tolist() == list(range(4**order))


def test_values_along_the_curve_are_a_square() -> None:
    for order in range(6):
        along = np.arange(4**order, dtype=np.uint32)
        square = along_curve(along)
        x, y = hilbert.points(along.astype(np.uint64), order)
        assert square[y, x].tolist() == along.tolist()
    with pytest.raises(ValueError, match="square"):
        along_curve(np.zeros(8))


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
