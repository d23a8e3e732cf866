"""The globe: cells of about equal area, and the Equal Earth projection.

No cell is smaller than asked in any direction. Rows are bands between parallels, of equal height;
each is cut by meridians into as many equal columns as are wide enough at its poleward edge. Squares
of a projected plane would not do: they keep their area, but near the poles they are narrow from
west to east. At a pole the row is one round cell. No cell lies across the date line, where all rows
begin.

Equal areas on the globe are equal areas on the map. Source: B. Šavrič, T. Patterson, B. Jenny, The
Equal Earth map projection, International Journal of Geographical Information Science 33 (2019),
doi 10.1080/13658816.2018.1504949. The globe of the projection is a sphere of radius 1.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from geolookup.dataset.intervals import F64, I64

#: The least radius of curvature of the WGS 84 ellipsoid, in km: along the meridian at the equator.
#: A degree is nowhere shorter than on a sphere of this radius.
_RADIUS = 6335.4


class Grid:
    """Cells of at least ``km`` from north to south and from west to east."""

    def __init__(self, km: float) -> None:
        self.km = km
        self.rows = int(np.pi * _RADIUS / km)

    @cached_property
    def columns(self) -> I64:
        """How many cells each row has, from north to south; shape (rows,)."""
        edges = np.abs(np.linspace(np.pi / 2, -np.pi / 2, self.rows + 1))
        # The edge nearer to the pole is the shorter one: columns are wide enough there.
        poleward = np.maximum(edges[:-1], edges[1:])
        # The length of a parallel, in km.
        around = 2 * np.pi * _RADIUS * np.cos(poleward)
        return np.maximum(1, around // self.km).astype(np.int64)

    @cached_property
    def _firsts(self) -> I64:
        """The number of the first cell of each row."""
        return np.cumsum(self.columns) - self.columns

    def cells(self, latitudes: F64, longitudes: F64) -> I64:
        """Return the cells of places in degrees, shape (n,): numbered by row, from the date line.

        The longitude may be any angle. No coordinate may be NaN.
        """
        rows = np.floor((90 - latitudes) / 180 * self.rows).astype(np.int64)
        rows = np.clip(rows, 0, self.rows - 1)  # the south pole is in the last row
        # Rounding can give 1.0 of a row: it stays in the last column.
        columns = np.floor((longitudes + 180) % 360 / 360 * self.columns[rows]).astype(np.int64)
        return self._firsts[rows] + np.minimum(columns, self.columns[rows] - 1)

    def centres(self, cells: I64) -> tuple[F64, F64]:
        """Return latitude and longitude of the centres of cells; shape (n,)."""
        rows = np.searchsorted(self._firsts, cells, side="right") - 1
        columns = cells - self._firsts[rows]
        latitudes = 90 - (rows + 0.5) * 180 / self.rows
        return latitudes, (columns + 0.5) * 360 / self.columns[rows] - 180


#: The coefficients of y by powers of the parametric latitude: 1, 3, 7, 9.
_A1, _A2, _A3, _A4 = 1.340264, -0.081106, 0.000893, 0.003796
_ROOT = np.sqrt(3)


def _y(theta: F64) -> F64:
    # A1 t + A2 t^3 + A3 t^7 + A4 t^9
    squared = theta * theta
    y: F64 = theta * (_A1 + squared * (_A2 + squared**2 * (_A3 + squared * _A4)))
    return y


def _slope(theta: F64) -> F64:
    """Return the derivative of y by the parametric latitude."""
    squared = theta * theta
    slope: F64 = _A1 + squared * (3 * _A2 + squared**2 * (7 * _A3 + squared * 9 * _A4))
    return slope


#: The right and the upper end of the map: 180° east, and the north pole.
WIDTH = float(2 * np.pi / (_ROOT * _A1))
HEIGHT = float(_y(np.array(np.pi / 3)))


def project(latitudes: F64, longitudes: F64) -> tuple[F64, F64]:
    """Return x, to the east, and y, to the north, of places in degrees; all of shape (n,)."""
    theta = np.arcsin(_ROOT / 2 * np.sin(np.radians(latitudes)))
    # sin t = sqrt(3) / 2 sin(latitude); x = 2 sqrt(3) longitude cos t / (3 y'(t)).
    x = 2 * np.radians(longitudes) * np.cos(theta) / (_ROOT * _slope(theta))
    return x, _y(theta)
