"""Time zones and weather stations from coordinates.

Zones come from the boundaries in tzfpy. At sea it returns nautical zones (``Etc/GMT+5``) that are
not in use on land; coordinates just off the coast get no zone. The nearest station comes from a k-d
tree of unit vectors: chords order as great circles do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import DEGREES
from geolookup.dataset.distances import EARTH_RADIUS_KM
from geolookup.dataset.runs import factorize
from geolookup.errors import BuildError
from geolookup_builder.reference import Credit
from geolookup_builder.reference.csv_table import Row, read_table

Degrees = NDArray[np.float64]
Vectors = NDArray[np.float64]
#: The fields that these finders need.
COORDINATES = ("latitude", "longitude")
_NAUTICAL = "Etc/"
_COLUMNS = ("code", *COORDINATES)


def _distinct_coordinates(
    columns: Mapping[str, pa.Array],
) -> tuple[NDArray[np.int64], Degrees, Degrees]:
    """Return the index of each row's coordinates (-1: unknown), and the distinct coordinates."""
    latitude, longitude = (
        columns[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in COORDINATES
    )
    rows = np.flatnonzero(~np.isnan(latitude) & ~np.isnan(longitude))
    # The bits of the floats: factorize takes integers, and equal bits are equal coordinates.
    codes, first = factorize([degrees[rows].view(np.int64) for degrees in (latitude, longitude)])
    index = np.full(len(latitude), -1, np.int64)
    index[rows] = codes
    return index, latitude[rows[first]], longitude[rows[first]]


def _by_row(values: pa.Array, index: NDArray[np.int64]) -> pa.Array:
    """Return the value at the coordinates of each row; null if it has none."""
    return values.take(pa.array(index, mask=index < 0))


class Zones:
    """Finds ``time_zone``."""

    field = "time_zone"
    needs = COORDINATES
    credits = (
        Credit(
            "Timezone Boundary Builder",
            "ODbL-1.0",
            "Time zones of coordinates from Timezone Boundary Builder, by way of tzfpy;"
            " contains information from OpenStreetMap, © OpenStreetMap contributors",
            "https://github.com/evansiroky/timezone-boundary-builder",
        ),
    )

    def __init__(self, names: Sequence[str]) -> None:
        from tzfpy import get_tz

        self._zone_at = get_tz
        self._names = frozenset(name for name in names if not name.startswith(_NAUTICAL))

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the zone at the coordinates of each row."""
        index, latitudes, longitudes = _distinct_coordinates(columns)
        # tzfpy takes the longitude first.
        names = map(self._zone_at, longitudes.tolist(), latitudes.tolist())
        zones = [name if name in self._names else None for name in names]
        return _by_row(pa.array(zones, pa.string()), index)


class Stations:
    """Finds ``weather_code``, the code of the nearest station within ``max_km``."""

    field = "weather_code"
    needs = COORDINATES
    credits = ()

    def __init__(self, path: Path, max_km: float) -> None:
        from scipy.spatial import cKDTree

        stations = _load(path)
        self._codes = pa.array(stations.values(), pa.string())
        points = np.array(list(stations))
        # In degrees, 179 E and 179 W would be 358 apart.
        self._tree = cKDTree(_vectors(points[:, 0], points[:, 1]))
        self._max_km = max_km

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of the station nearest to the coordinates of each row."""
        index, latitudes, longitudes = _distinct_coordinates(columns)
        chord, nearest = self._tree.query(_vectors(latitudes, longitudes))
        near = _kilometres(chord) <= self._max_km
        codes = self._codes.take(pa.array(nearest, pa.int64(), mask=~near))
        return _by_row(codes, index)


def _vectors(latitude: Degrees, longitude: Degrees) -> Vectors:
    """Return points on the unit sphere (rows of x, y, z) for degrees."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)


def _kilometres(chord: Degrees) -> Degrees:
    """Return great-circle distances in km for chord lengths in the unit sphere."""
    # chord = 2 sin(angle / 2); minimum: rounding may give a little more than 1.
    distances: Degrees = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(chord / 2, 1.0))
    return distances


def _load(path: Path) -> dict[tuple[float, float], str]:
    """Return station codes by coordinates; of several stations at one point the first."""
    stations: dict[tuple[float, float], str] = {}
    for line, row in read_table(path, _COLUMNS):
        if not row["code"]:
            raise BuildError(path, "a station without code", line=line, remedy="remove the row")
        latitude, longitude = (_degrees(path, line, row, name) for name in COORDINATES)
        stations.setdefault((latitude, longitude), row["code"])
    if not stations:
        raise BuildError(path, "no station in it", remedy="add a row for each station")
    return stations


def _degrees(path: Path, line: int, row: Row, name: str) -> float:
    try:
        degrees = float(row[name])
    except ValueError:
        degrees = math.nan
    # In this form NaN is refused too.
    if not abs(degrees) <= DEGREES[name]:
        remedy = f"write degrees from -{DEGREES[name]:g} to {DEGREES[name]:g}"
        raise BuildError(path, f"bad {name} {row[name]!r}", line=line, remedy=remedy)
    return degrees
