"""The nearest weather station, by a k-d tree of unit vectors: chords order as great circles do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from geolookup.contract.fields import DEGREES
from geolookup.errors import BuildError
from geolookup_builder.enrichment.coordinates import (
    COORDINATES,
    Degrees,
    by_row,
    distinct_coordinates,
)
from geolookup_builder.reference.csv_table import Row, read_table

_COLUMNS = ("code", *COORDINATES)
_EARTH_KM = 6371.0088  # the mean radius
Vectors = NDArray[np.float64]


class Stations:
    """Finds ``weather_code``: that of the nearest station within ``max_km``."""

    field = "weather_code"
    needs = COORDINATES
    credit = None

    def __init__(self, path: Path, max_km: float) -> None:
        stations = _load(path)
        self._codes = pa.array(stations.values(), pa.string())
        points = np.array(list(stations))
        self._tree = cKDTree(_vectors(points[:, 0], points[:, 1]))
        self._max_km = max_km

    def find(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """Return the code of the station nearest to the coordinates of each row."""
        index, latitudes, longitudes = distinct_coordinates(columns)
        chord, nearest = self._tree.query(_vectors(latitudes, longitudes))
        near = _kilometres(chord) <= self._max_km
        codes = self._codes.take(pa.array(nearest, pa.int64(), mask=~near))
        return by_row(codes, index)


def _vectors(latitude: Degrees, longitude: Degrees) -> Vectors:
    """Return points on the unit sphere (rows of x, y, z) for degrees."""
    phi, lam = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)


def _kilometres(chord: Degrees) -> Degrees:
    """Return great-circle distances in km for chord lengths in the unit sphere."""
    distances: Degrees = 2 * _EARTH_KM * np.arcsin(np.minimum(chord / 2, 1.0))
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
    if not abs(degrees) <= DEGREES[name]:
        remedy = f"write degrees from -{DEGREES[name]:g} to {DEGREES[name]:g}"
        raise BuildError(path, f"bad {name} {row[name]!r}", line=line, remedy=remedy)
    return degrees
