"""Pixels against a plain definition, pixel by pixel, and the PNG against the pixels."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from geolookup.pictures import hilbert
from geolookup.pictures.address_map import address_map
from geolookup.pictures.raster import NOTHING, pixels, png
from geolookup.pictures.views import View
from tests.pictures.random_views import value_at, views
from tests.skips import needs, optional

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
