"""The Hilbert curve against its definition, drawn by recursion; pixels against theirs."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geolookup.pictures import hilbert
from geolookup.pictures.address_map import address_map
from geolookup.pictures.raster import NOTHING, pixels, png
from geolookup.pictures.views import View
from tests.pictures.random_views import value_at, views
from tests.skips import needs, optional


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


@given(st.integers(0, 32).flatmap(
    lambda order: st.tuples(st.just(order), st.lists(st.integers(0, 4**order - 1), max_size=9))
))  # fmt: skip
def test_the_inverse_returns_the_cells(drawn: tuple[int, list[int]]) -> None:
    order, numbers = drawn
    cells = np.array(numbers, np.uint64)
    assert hilbert.cells(*hilbert.points(cells, order), order).tolist() == numbers


@pytest.mark.parametrize(("order", "cell"), [(-1, 0), (33, 0), (2, 16)])
def test_what_lies_outside_is_refused(order: int, cell: int) -> None:
    with pytest.raises(ValueError, match="order"):
        hilbert.points(np.array([cell], np.uint64), order)
    with pytest.raises(ValueError, match="order"):
        hilbert.cells(np.array([4], np.uint64), np.array([0], np.uint64), 2 if cell else order)


def test_values_along_the_curve_are_a_square() -> None:
    for order in range(6):
        along = np.arange(4**order, dtype=np.uint32)
        square = hilbert.square(along)
        x, y = hilbert.points(along.astype(np.uint64), order)
        assert square[y, x].tolist() == along.tolist()
    with pytest.raises(ValueError, match="square"):
        hilbert.square(np.zeros(8))


image = optional("PIL.Image")


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
        if cell < shown.space.filled:
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
