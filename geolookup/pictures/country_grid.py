"""Which country a place lies in: the outlines drawn on a grid of a tenth of a degree.

A cell is 11 km from north to south; the outlines are simplified too. So a place is compared with
all cells within ``TOLERANCE_KM``, and a place near a border lies in both countries.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup.pictures import outlines

TOLERANCE_KM = 50
_CELLS, _STEP_KM, _DEGREE_KM = 10, 10, 111.2  # cells in a degree; steps of the search
_WIDTH, _HEIGHT = 360 * _CELLS, 180 * _CELLS


@cache
def codes() -> list[str]:
    """Return the countries of the grid by their number; number 0 is "": sea, or no country."""
    return ["", *sorted({*outlines.read().countries.tolist()} - {""})]


@cache
def _grid() -> NDArray[np.int32]:
    """Return the country of each cell, from north to south and from west to east."""
    from PIL import Image, ImageDraw

    image = Image.new("I", (_WIDTH, _HEIGHT))
    draw = ImageDraw.Draw(image)
    for number, x, y in _rings():
        draw.polygon([*zip(x.tolist(), y.tolist(), strict=True)], fill=number)
    return np.asarray(image, np.int32)


def _rings() -> Iterator[tuple[int, F64, F64]]:
    """Yield the number and the corners of each ring, the largest first; a hole has number 0."""
    shapes = outlines.read()
    numbers = {code: number for number, code in enumerate(codes())}
    latitudes, longitudes = shapes.land.degrees()
    cuts = np.cumsum(shapes.land.lengths)[:-1]
    rings = list(zip(np.split(longitudes, cuts), np.split(latitudes, cuts), strict=True))
    areas = np.array([_area(x, y) for x, y in rings])
    outer = np.sign(areas[np.abs(areas).argmax()])
    # A hole and the country that fills it have equal areas: the hole comes first.
    order = np.lexsort((np.sign(areas) == outer, -np.abs(areas)))
    for at in order.tolist():
        is_hole = np.sign(areas[at]) != outer
        x, y = rings[at]
        number = 0 if is_hole else numbers[str(shapes.countries[at])]
        yield number, (x + 180) * _CELLS, (90 - y) * _CELLS


def _area(x: F64, y: F64) -> float:
    """Return twice the signed area of a ring, rounded: equal rings have equal areas."""
    return round(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)), 3)


def country_at(latitudes: F64, longitudes: F64) -> I64:
    """Return the number of the country of each place in degrees; shape (n,)."""
    rows = np.clip(np.floor((90 - latitudes) * _CELLS), 0, _HEIGHT - 1).astype(np.int64)
    columns = np.floor((longitudes + 180) * _CELLS).astype(np.int64) % _WIDTH
    return _grid()[rows, columns].astype(np.int64)


def judge_places(latitudes: F64, longitudes: F64, stated: I64) -> tuple[Bools, I64]:
    """Mark the places within ``TOLERANCE_KM`` of their stated country; all of shape (n,).

    Also return the country that each lies in, or one near it; 0 if none is near.
    """
    agrees = np.zeros(len(stated), bool)
    nearest = country_at(latitudes, longitudes)
    for north, east in _offsets():
        shifted = latitudes + north / _DEGREE_KM
        around = np.maximum(np.cos(np.radians(latitudes)), 0.01) * _DEGREE_KM
        countries = country_at(shifted, longitudes + east / around)
        agrees |= countries == stated
        nearest = np.where(nearest == 0, countries, nearest)
    return agrees, nearest


def _offsets() -> list[tuple[int, int]]:
    """Return distances to the north and to the east within the tolerance, the nearest first."""
    steps = range(-TOLERANCE_KM, TOLERANCE_KM + 1, _STEP_KM)
    every = [(north, east) for north in steps for east in steps]
    within = [(n, e) for n, e in every if n * n + e * e <= TOLERANCE_KM**2]
    return sorted(within, key=lambda offset: offset[0] ** 2 + offset[1] ** 2)
