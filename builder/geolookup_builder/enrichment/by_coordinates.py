"""Time zones and weather stations from coordinates.

Zones come from the boundaries in tzfpy. At sea it returns nautical zones (``Etc/GMT+5``) that are
not in use on land; coordinates just off the coast get no zone. The nearest station comes from a k-d
tree of unit vectors: chords order as great circles do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import DEGREES
from geolookup.dataset.distances import EARTH_RADIUS_KM
from geolookup.dataset.intervals import F64
from geolookup.errors import BuildError
from geolookup_builder.reference.csv_table import Row, read_table

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
        latitudes, longitudes = (columns[name].to_pylist() for name in self.needs)
        zone_at = cache(self._at)  # many places differ in other fields
        return pa.array(map(zone_at, latitudes, longitudes), pa.string())

    def _at(self, latitude: float | None, longitude: float | None) -> str | None:
        if latitude is None or longitude is None:
            return None
        name = self._zone_at(longitude, latitude)
        return name if name in self._names else None


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
        self._max_km = max_km

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of the station nearest to the coordinates of each row."""
        cells = (columns[name].to_numpy(zero_copy_only=False) for name in self.needs)
        latitudes, longitudes = (degrees.astype(np.float64) for degrees in cells)
        rows = np.flatnonzero(~np.isnan(latitudes + longitudes))
        chords, nearest = self._tree.query(_vectors(latitudes[rows], longitudes[rows]))
        is_near = _kilometres(chords) <= self._max_km
        station = np.full(len(latitudes), -1, np.int64)
        station[rows[is_near]] = nearest[is_near]
        return self._codes.take(pa.array(station, mask=station < 0))


def _vectors(latitude: F64, longitude: F64) -> F64:
    """Return points on the unit sphere (rows of x, y, z) for degrees."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)


def _kilometres(chord: F64) -> F64:
    """Return great-circle distances in km for chord lengths in the unit sphere."""
    # chord = 2 sin(angle / 2); minimum: rounding may give a little more than 1.
    distances: F64 = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(chord / 2, 1.0))
    return distances


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
