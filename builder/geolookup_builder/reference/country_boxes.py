"""Where countries lie: boxes of coordinates, from ``country_boxes.csv``.

A country has several boxes if its land lies apart, such as Alaska and Hawaii, or overseas
departments. A country that crosses the date line has boxes on both sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup_builder.reference.csv_table import read_table

FILE = files("geolookup_builder.reference").joinpath("country_boxes.csv")
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


@dataclass(frozen=True, slots=True)
class Places:
    """Coordinates with the country that a source states for each, all of one length.

    ``country`` is an index of ``codes``, -1 if unknown. Unknown coordinates are not-a-number.
    """

    codes: Sequence[str | None]
    country: NDArray[np.integer]
    latitudes: F64
    longitudes: F64

    def __getitem__(self, rows: I64) -> Places:
        coordinates = self.latitudes[rows], self.longitudes[rows]
        return Places(self.codes, self.country[rows], *coordinates)

    def swapped(self) -> Places:
        """Return the places with latitude and longitude exchanged."""
        return Places(self.codes, self.country, self.longitudes, self.latitudes)

    def far(self, kilometres: float) -> I64:
        """Return the places farther than a distance from every box of their country.

        Places without coordinates, or of a country without boxes, are not.
        """
        boxes = [country_boxes().get(code or "", _NO_BOXES) for code in self.codes]
        # Countries with 2, 0 and 3 boxes: theirs begin at 0, 2 and 2 of all boxes.
        counts, corners = np.array([*map(len, boxes), 0]), np.concatenate([_NO_BOXES, *boxes])
        of_place, begin = counts[self.country], (np.cumsum(counts) - counts)[self.country]
        is_far: Bools = (of_place > 0) & ~np.isnan(self.latitudes) & ~np.isnan(self.longitudes)
        for turn in range(counts.max()):  # all first boxes, then all second ones
            rows = np.flatnonzero(is_far & (of_place > turn))
            is_near = _are_near(corners[begin[rows] + turn], self[rows], kilometres)
            is_far[rows[is_near]] = False
        return np.flatnonzero(is_far)


def _are_near(boxes: Boxes, places: Places, kilometres: float) -> Bools:
    """Return which places are within a distance of their box, one for each."""
    margin = kilometres / _DEGREE  # of longitude too: nowhere is a degree of it longer
    south, west, north, east = boxes.T
    is_near: Bools = (places.latitudes >= south - margin) & (places.latitudes <= north + margin)
    is_beside = (places.longitudes >= west - margin) & (places.longitudes <= east + margin)
    # Only the few others are measured: near the poles degrees of longitude are shorter.
    rows = np.flatnonzero(is_near & ~is_beside)
    is_near[rows] = _distances(boxes[rows], places[rows]) <= kilometres
    return is_near


def _distances(boxes: Boxes, places: Places) -> F64:
    """Return about how many kilometres places are from their box, one for each."""
    latitudes, longitudes = places.latitudes, places.longitudes
    south, west, north, east = boxes.T
    cosines = np.maximum(np.cos(np.radians(latitudes)), _LEAST_COSINE)
    above = np.maximum(np.maximum(south - latitudes, latitudes - north), 0)
    # Also around the globe: 179° is 2° from a box that begins at -179°.
    turns = [np.maximum(west - degrees, degrees - east)
             for degrees in (longitudes, longitudes + 360, longitudes - 360)]  # fmt: skip
    beside = np.maximum(np.minimum.reduce(turns), 0) * cosines
    distances: F64 = np.hypot(above, beside) * _DEGREE
    return distances
