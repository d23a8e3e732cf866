"""The Equal Earth projection: equal areas on the globe are equal areas on the map.

Source: B. Šavrič, T. Patterson, B. Jenny, The Equal Earth map projection, International Journal
of Geographical Information Science 33 (2019), doi 10.1080/13658816.2018.1504949. The globe is a
sphere of radius 1.
"""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import F64

#: The coefficients of y by powers of the parametric latitude: 1, 3, 7, 9.
_A1, _A2, _A3, _A4 = 1.340264, -0.081106, 0.000893, 0.003796
_ROOT = np.sqrt(3)
#: Newton's method doubles the right digits with each step; these give all of a float.
_STEPS = 12


def _y(theta: F64) -> F64:
    squared = theta * theta
    found: F64 = theta * (_A1 + squared * (_A2 + squared**2 * (_A3 + squared * _A4)))
    return found


def _slope(theta: F64) -> F64:
    """Return the derivative of y by the parametric latitude."""
    squared = theta * theta
    found: F64 = _A1 + squared * (3 * _A2 + squared**2 * (7 * _A3 + squared * 9 * _A4))
    return found


#: The right and the upper end of the map: those of 180° east and of the north pole.
WIDTH = float(2 * np.pi / (_ROOT * _A1))
HEIGHT = float(_y(np.array(np.pi / 3)))


def project(latitudes: F64, longitudes: F64) -> tuple[F64, F64]:
    """Return x, to the east, and y, to the north, of places in degrees; all of shape (n,)."""
    theta = np.arcsin(_ROOT / 2 * np.sin(np.radians(latitudes)))
    x = 2 * np.radians(longitudes) * np.cos(theta) / (_ROOT * _slope(theta))
    return x, _y(theta)


def unproject(x: F64, y: F64) -> tuple[F64, F64]:
    """Return latitudes and longitudes in degrees; the inverse of ``project``.

    NaN where y lies beyond the poles. A longitude beyond ±180° is a point beside the map.
    """
    theta = y / _A1
    for _ in range(_STEPS):
        theta = theta - (_y(theta) - y) / _slope(theta)
    sine = 2 * np.sin(theta) / _ROOT
    latitudes = np.degrees(np.arcsin(np.where(np.abs(y) > HEIGHT, np.nan, np.clip(sine, -1, 1))))
    longitudes = np.degrees(x * _ROOT * _slope(theta) / (2 * np.cos(theta)))
    return latitudes, longitudes
