"""How far locations moved: great circles, and quantiles by weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
#: Mean radius of the Earth, R1 of IUGG: (2a + b) / 3 of its ellipsoid of 1980 (GRS 80).
EARTH_RADIUS_KM = 6371.0088
_PERCENTS = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Kilometres:
    """Quantiles of the distance moved, among addresses with coordinates in both datasets.

    p90 is the least distance that at least 90 % of them do not exceed; 0 where there are none.
    """

    of: float  # how many those addresses are
    p50: float
    p90: float
    p99: float
    max: float


def distances(old: F64, new: F64) -> F64:
    """Return great-circle distances in km between coordinates in degrees, both (2, n); NaN stays.

    By the haversine formula on a sphere of the Earth's mean radius.
    """
    (latitude, longitude), (to_latitude, to_longitude) = np.radians(old), np.radians(new)
    haversine = np.sin((to_latitude - latitude) / 2) ** 2 + (
        np.cos(latitude) * np.cos(to_latitude) * np.sin((to_longitude - longitude) / 2) ** 2
    )
    found: F64 = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(haversine, 1)))
    return found


def quantiles(moved: F64, weights: F64) -> Kilometres:
    """Return the quantiles of distances, NaN left out, each as many times as its weight says."""
    known = np.flatnonzero(~np.isnan(moved))
    if not len(known):
        return Kilometres(0.0, 0.0, 0.0, 0.0, 0.0)
    order = known[np.argsort(moved[known])]
    passed = np.cumsum(weights[order])
    # Multiplied, not divided, so that whole weights are compared exactly.
    at = [np.searchsorted(passed * 100, passed[-1] * percent) for percent in _PERCENTS]
    p50, p90, p99, most = (float(moved[order[i]]) for i in (*at, -1))
    return Kilometres(float(passed[-1]), p50, p90, p99, most)
