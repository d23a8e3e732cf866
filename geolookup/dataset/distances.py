"""Distances between coordinates, for whole columns."""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import F64

#: Mean radius of the Earth, R1 of IUGG: (2a + b) / 3 of its ellipsoid of 1980 (GRS 80).
EARTH_RADIUS_KM = 6371.0088


def distances(old: F64, new: F64) -> F64:
    """Return great-circle distances in km, shape (n,), between coordinates in degrees, (2, n).

    Haversine formula on a sphere of the Earth's mean radius; NaN if a coordinate is NaN.
    """
    (latitude, longitude), (to_latitude, to_longitude) = np.radians(old), np.radians(new)
    haversine = np.sin((to_latitude - latitude) / 2) ** 2 + (
        np.cos(latitude) * np.cos(to_latitude) * np.sin((to_longitude - longitude) / 2) ** 2
    )
    # Rounding can make it 1 + 2e-16 for antipodes; arcsin of that is NaN.
    kilometres: F64 = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(haversine, 1)))
    return kilometres
