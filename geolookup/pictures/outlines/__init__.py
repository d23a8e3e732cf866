"""Outlines of Natural Earth: the land and the borders of countries, at the scale 1:50,000,000.

Natural Earth is in the public domain. ``generate`` makes the file, ``natural_earth.npz``: the
lengths of lines, and by point the differences from the point before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from geolookup.dataset.intervals import F64, I64

FILE = Path(__file__).with_name("natural_earth.npz")
#: What a page says of its source.
CREDIT = "Outlines: Natural Earth (public domain)"
#: Steps of a degree: one is 2 km.
STEPS = 50


class Lines(NamedTuple):
    """Lines of several points: how many each has, and all of them in steps of a degree."""

    lengths: I64
    latitudes: I64
    longitudes: I64

    def degrees(self) -> tuple[F64, F64]:
        """Return the latitudes and longitudes of all points."""
        return self.latitudes / STEPS, self.longitudes / STEPS


def read() -> dict[str, Lines]:
    """Return ``land``, rings that the last point closes with the first, and ``borders``."""
    with np.load(FILE) as stored:
        return {part: _lines(stored, part) for part in ("land", "borders")}


def _lines(stored: Mapping[str, I64], part: str) -> Lines:
    lengths, *steps = (stored[f"{part}_{name}"].astype(np.int64) for name in Lines._fields)
    return Lines(lengths, *(np.cumsum(each) for each in steps))


def write(parts: Mapping[str, Lines], path: Path) -> None:
    """Write what ``read`` returns."""
    stored: dict[str, Any] = {}
    for part, lines in parts.items():
        stored[f"{part}_lengths"] = lines.lengths.astype(np.uint16)
        for name in ("latitudes", "longitudes"):
            stored[f"{part}_{name}"] = np.diff(getattr(lines, name), prepend=0).astype(np.int16)
    np.savez_compressed(path, **stored)
