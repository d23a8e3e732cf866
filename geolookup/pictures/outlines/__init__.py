"""Outlines of Natural Earth: countries and their borders, at the scale 1:50,000,000.

Natural Earth is in the public domain. ``generate`` makes the file, ``natural_earth.npz``: the
lengths of lines, and by point the differences from the point before.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64

Codes = NDArray[np.str_]

FILE = Path(__file__).with_name("natural_earth.npz")
#: The credit of the source on a page.
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


class Outlines(NamedTuple):
    """The land as rings, whose last point joins the first, and borders on land.

    ``countries`` is the ISO 3166-1 alpha-2 code of each ring, "" of land without one. A hole
    goes round the other way than what surrounds it.
    """

    countries: Codes
    land: Lines
    borders: Lines


def read() -> Outlines:
    """Return the outlines that the file holds."""
    with np.load(FILE) as stored:
        lines = (_lines(stored, part) for part in ("land", "borders"))
        return Outlines(stored["countries"], *lines)


def _lines(stored: Mapping[str, I64], part: str) -> Lines:
    lengths, *steps = (stored[f"{part}_{name}"].astype(np.int64) for name in Lines._fields)
    # Differences to degrees; the first of a line is the difference to the line before.
    return Lines(lengths, *(np.cumsum(step) for step in steps))


def write(outlines: Outlines, path: Path) -> None:
    """Write what ``read`` returns."""
    stored: dict[str, Any] = {"countries": outlines.countries}
    for part, lines in (("land", outlines.land), ("borders", outlines.borders)):
        stored[f"{part}_lengths"] = lines.lengths.astype(np.uint16)
        for name in ("latitudes", "longitudes"):
            stored[f"{part}_{name}"] = np.diff(getattr(lines, name), prepend=0).astype(np.int16)
    np.savez_compressed(path, **stored)
