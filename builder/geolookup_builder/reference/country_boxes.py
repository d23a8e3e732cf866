"""Where countries lie: boxes of coordinates, from ``country_boxes.csv``.

A country has several boxes if its land lies apart, such as Alaska and Hawaii, or overseas
departments. A country that crosses the date line has boxes on both sides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, Bools
from geolookup_builder.reference.csv_table import read_table

FILE = files("geolookup_builder.reference").joinpath("country_boxes.csv")
COLUMNS = ("country_code", "south", "west", "north", "east")
#: Kilometres of a degree of latitude.
_DEGREE = 111.2
#: At the poles a degree of longitude has no length.
_LEAST_COSINE = 0.01

Boxes = NDArray[np.float64]  # a row each: south, west, north, east


@cache
def country_boxes() -> Mapping[str, Boxes]:
    """Return the boxes of each country by its code."""
    boxes: defaultdict[str, list[list[float]]] = defaultdict(list)
    for _, row in read_table(FILE, COLUMNS):
        boxes[row["country_code"]].append([float(row[name]) for name in COLUMNS[1:]])
    return {code: np.array(corners) for code, corners in boxes.items()}


def is_far(boxes: Boxes, latitudes: F64, longitudes: F64, kilometres: float) -> Bools:
    """Return which coordinates are farther than a distance from each of the boxes.

    Unknown coordinates (not-a-number) are not.
    """
    is_outside = ~(np.isnan(latitudes) | np.isnan(longitudes))
    margin = kilometres / _DEGREE  # of longitude too: nowhere is a degree of it longer
    for south, west, north, east in boxes:
        is_outside &= (latitudes < south - margin) | (latitudes > north + margin) | (
            longitudes < west - margin) | (longitudes > east + margin)  # fmt: skip
    # Only these few are measured: near the poles degrees of longitude are shorter.
    rows = np.flatnonzero(is_outside)
    is_outside[rows] = _distances(boxes, latitudes[rows], longitudes[rows]) > kilometres
    return is_outside


def _distances(boxes: Boxes, latitudes: F64, longitudes: F64) -> F64:
    """Return about how many kilometres coordinates are from the nearest box."""
    nearest = np.full(len(latitudes), np.inf)
    cosines = np.maximum(np.cos(np.radians(latitudes)), _LEAST_COSINE)
    for south, west, north, east in boxes:
        above = np.maximum(np.maximum(south - latitudes, latitudes - north), 0)
        # Also around the globe: 179° is 2° from a box that begins at -179°.
        turns = [np.maximum(west - degrees, degrees - east)
                 for degrees in (longitudes, longitudes + 360, longitudes - 360)]  # fmt: skip
        beside = np.maximum(np.minimum.reduce(turns), 0) * cosines
        nearest = np.minimum(nearest, np.hypot(above, beside) * _DEGREE)
    return nearest
