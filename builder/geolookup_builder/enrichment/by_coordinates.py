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

from geolookup.contract.fields import DEGREES
from geolookup.dataset.distances import EARTH_RADIUS_KM
from geolookup.dataset.intervals import F64, I64, Bools
from geolookup.errors import BuildError
from geolookup_builder.reference import Row, read_table

_COORDINATES = ("latitude", "longitude")
_NAUTICAL = "Etc/"
_COLUMNS = ("code", *_COORDINATES)


class Zones:
    """Finds ``time_zone``."""

    field = "time_zone"
    needs = _COORDINATES

    def __init__(self, names: Sequence[str]) -> None:
        from tzfpy import get_tz

        self._zone_at = get_tz
        self._names = frozenset(name for name in names if not name.startswith(_NAUTICAL))

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the zone at the coordinates of each row."""
        latitudes, longitudes, rows = _coordinates(columns)
        places, numbers = np.unique(longitudes + 1j * latitudes, return_inverse=True)
        names = map(self._zone_at, places.real.tolist(), places.imag.tolist())
        zones = [name if name in self._names else None for name in names]
        return _by_row(pa.array(zones, pa.string()), rows, numbers)


class Stations:
    """Finds ``weather_code``, the code of the nearest station within ``max_km``."""

    field = "weather_code"
    needs = _COORDINATES

    def __init__(self, path: Path, max_km: float) -> None:
        from scipy.spatial import cKDTree

        stations = _load(path)
        self._codes = pa.array(stations.values(), pa.string())
        # In degrees, 179 E and 179 W would be 358 apart.
        self._tree = cKDTree(_vectors(*np.array(list(stations)).T))
        # chord = 2 sin(angle / 2); the query excludes its bound.
        self._reach = np.nextafter(2 * math.sin(max_km / EARTH_RADIUS_KM / 2), math.inf)

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of the station nearest to the coordinates of each row."""
        latitudes, longitudes, rows = _coordinates(columns)
        vectors = _vectors(latitudes, longitudes)
        chords, nearest = self._tree.query(vectors, distance_upper_bound=self._reach)
        return _by_row(self._codes, rows, np.where(np.isfinite(chords), nearest, -1))


def _coordinates(columns: Mapping[str, pa.Array]) -> tuple[F64, F64, Bools]:
    """Return the latitudes and longitudes of the rows that have both, and these rows."""
    cells = (columns[name].to_numpy(zero_copy_only=False) for name in _COORDINATES)
    latitudes, longitudes = (degrees.astype(np.float64) for degrees in cells)
    rows = ~np.isnan(latitudes + longitudes)
    return latitudes[rows], longitudes[rows], rows


def _by_row(values: pa.Array, rows: Bools, numbers: I64) -> pa.Array:
    """Return a value for each row by the number of some; null for -1 and the other rows."""
    index = np.full(len(rows), -1, np.int64)
    index[rows] = numbers
    return values.take(pa.array(index, mask=index < 0))


def _vectors(latitude: F64, longitude: F64) -> F64:
    """Return points on the unit sphere (rows of x, y, z) for degrees."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)


def _load(path: Path) -> dict[tuple[float, float], str]:
    """Return station codes by coordinates; of several stations at one point the first."""
    stations: dict[tuple[float, float], str] = {}
    for line, row in read_table(path, _COLUMNS):
        if not row["code"]:
            raise BuildError(path, "a station without code", line=line, remedy="remove the row")
        latitude, longitude = (_degrees(path, line, row, name) for name in _COORDINATES)
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
