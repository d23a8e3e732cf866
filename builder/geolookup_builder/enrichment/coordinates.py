"""The distinct coordinates of locations, for finders that use coordinates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup_builder.factorize import factorize

Degrees = NDArray[np.float64]
#: The fields that these finders need.
COORDINATES = ("latitude", "longitude")


def distinct_coordinates(
    columns: Mapping[str, pa.Array],
) -> tuple[NDArray[np.int64], Degrees, Degrees]:
    """Return the index of each row's coordinates (-1: unknown), and the distinct coordinates."""
    latitude, longitude = (
        columns[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in COORDINATES
    )
    rows = np.flatnonzero(~np.isnan(latitude) & ~np.isnan(longitude))
    codes, first = factorize([each[rows].view(np.int64) for each in (latitude, longitude)])
    index = np.full(len(latitude), -1, np.int64)
    index[rows] = codes
    return index, latitude[rows[first]], longitude[rows[first]]


def by_row(found: pa.Array, index: NDArray[np.int64]) -> pa.Array:
    """Return what was found for the coordinates of each row; null where it has none."""
    return found.take(pa.array(index, mask=index < 0))
