"""Where countries lie: boxes of coordinates, from ``country_boxes.csv``.

A country has several boxes if its land lies apart, such as Alaska and Hawaii, or overseas
departments. A country that crosses the date line has boxes on both sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup_builder.reference import read_table

FILE = Path(__file__).with_name("country_boxes.csv")
COLUMNS = ("country_code", "south", "west", "north", "east")
#: Kilometres of a degree of latitude.
_DEGREE = 111.2
#: At the poles a degree of longitude has no length.
_LEAST_COSINE = 0.01
_NO_BOXES = np.empty((0, 4))

Boxes = NDArray[np.float64]  # a row each: south, west, north, east


@cache
def country_boxes() -> Mapping[str, Boxes]:
    """Return the boxes of each country by its code."""
    boxes: defaultdict[str, list[list[float]]] = defaultdict(list)
    for _, row in read_table(FILE, COLUMNS):
        boxes[row["country_code"]].append([float(row[name]) for name in COLUMNS[1:]])
    return {code: np.array(corners) for code, corners in boxes.items()}


def far_places(
    codes: Sequence[str | None], country: NDArray[np.integer], latitudes: F64, longitudes: F64,
    kilometres: float,
) -> I64:  # fmt: skip
    """Return the places farther than a distance from every box of their country.

    ``country`` has an index of ``codes`` for each place, -1 if unknown. Places without coordinates
    (not-a-number), or of a country without boxes, are not far.
    """
    boxes = [country_boxes().get(code or "", _NO_BOXES) for code in codes]
    # Countries with 2, 0 and 3 boxes: theirs begin at 0, 2 and 2 of all boxes.
    counts, corners = np.array([*map(len, boxes), 0]), np.concatenate([_NO_BOXES, *boxes])
    of_place, begin = counts[country], (np.cumsum(counts) - counts)[country]
    is_far: Bools = (of_place > 0) & ~np.isnan(latitudes) & ~np.isnan(longitudes)
    for turn in range(counts.max()):  # all first boxes, then all second ones
        rows = np.flatnonzero(is_far & (of_place > turn))
        distances = _distances(corners[begin[rows] + turn], latitudes[rows], longitudes[rows])
        is_far[rows] = distances > kilometres
    return np.flatnonzero(is_far)


def _distances(boxes: Boxes, latitudes: F64, longitudes: F64) -> F64:
    """Return about how many kilometres places are from their box, one for each."""
    south, west, north, east = boxes.T
    cosines = np.maximum(np.cos(np.radians(latitudes)), _LEAST_COSINE)
    above = np.maximum(np.maximum(south - latitudes, latitudes - north), 0)
    # Also around the globe: 179° is 2° from a box that begins at -179°.
    turns = [np.maximum(west - degrees, degrees - east)
             for degrees in (longitudes, longitudes + 360, longitudes - 360)]  # fmt: skip
    beside = np.maximum(np.minimum.reduce(turns), 0) * cosines
    distances: F64 = np.hypot(above, beside) * _DEGREE
    return distances
