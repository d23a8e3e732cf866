"""Lines and rings cut at the date line, so that none crosses a flat map from end to end.

A step of more than 180° goes over the date line. Points are longitudes and latitudes in degrees,
shape (n, 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from geolookup.dataset.intervals import F64


def cut_line(points: F64) -> list[F64]:
    """Return the parts of a line on each side."""
    over = np.flatnonzero(np.abs(np.diff(points[:, 0])) > 180) + 1
    return np.split(points, over)


def cut_ring(points: F64) -> Iterator[F64]:
    """Yield the rings of the areas on each side; the last point of a ring joins the first.

    A ring around a pole goes along the date line to the pole and back.
    """
    closed = np.vstack([points, points[:1]])
    longitudes = np.unwrap(closed[:, 0], period=360)
    unwrapped = np.column_stack([longitudes, closed[:, 1]])
    if longitudes[0] == longitudes[-1]:
        unwrapped = unwrapped[:-1]
    else:
        pole = np.copysign(90, closed[:, 1].mean())
        unwrapped = np.vstack([unwrapped, [longitudes[-1], pole], [longitudes[0], pole]])
    for turn in np.array([[-360, 0], [0, 0], [360, 0]]):
        part = _until(_until(unwrapped + turn, 180, 1), -180, -1)
        if len(part) and np.ptp(part[:, 0]):
            yield part


def _until(ring: F64, limit: float, sign: int) -> F64:
    """Return what of a ring is west of a meridian (sign 1), or east of it (sign -1).

    Source: I. Sutherland, G. Hodgman, Reentrant polygon clipping, Communications of the ACM 17
    (1974).
    """
    kept: list[Sequence[float]] = []
    for one, other in zip(ring.tolist(), np.roll(ring, -1, axis=0).tolist(), strict=True):
        inside, next_inside = (sign * (limit - each[0]) >= 0 for each in (one, other))
        if inside:
            kept.append(one)
        if inside != next_inside:
            share = (limit - one[0]) / (other[0] - one[0])
            kept.append((limit, one[1] + share * (other[1] - one[1])))
    return np.array(kept).reshape(-1, 2)
