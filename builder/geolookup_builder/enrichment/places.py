"""The distinct coordinates of locations, for finders that go by them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup_builder.factorize import factorize

Degrees = NDArray[np.float64]
#: What finders by place need.
COORDINATES = ("latitude", "longitude")


def at_each_place(
    columns: Mapping[str, pa.Array],
) -> tuple[NDArray[np.int64], Degrees, Degrees]:
    """Return each row's place (-1 where a coordinate is unknown), and the places themselves."""
    latitude, longitude = (
        columns[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in COORDINATES
    )
    rows = np.flatnonzero(~np.isnan(latitude) & ~np.isnan(longitude))
    codes, first = factorize([each[rows].view(np.int64) for each in (latitude, longitude)])
    place = np.full(len(latitude), -1, np.int64)
    place[rows] = codes
    return place, latitude[rows[first]], longitude[rows[first]]


def spread(found: pa.Array, place: NDArray[np.int64]) -> pa.Array:
    """Return what was found for each row's place; null where the row has none."""
    return found.take(pa.array(place, mask=place < 0))
