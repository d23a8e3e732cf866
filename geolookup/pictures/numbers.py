"""Arrays of numbers as short texts, for a page: byte planes, deflated.

The first bytes of all numbers come first, then the second ones and so on: bytes that differ
little lie together, which deflate makes small. ``reports/assets/numbers.js`` is the inverse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures.deflate import deflated, inflated

#: Differences from one number to the next take 31 bits and a sign.
_LIMIT = 1 << 30


def pack_integers(values: I64) -> str:
    """Pack integers as differences, each from the one before; shape (n,).

    Raises ValueError unless all lie between -2^30 and 2^30, both excluded.
    """
    if len(values) and int(np.abs(values).max()) >= _LIMIT:
        raise ValueError(f"an integer lies outside of ±{_LIMIT - 1}")
    steps = np.diff(values, prepend=0)
    return deflated(_planes((steps << 1 ^ steps >> 63).astype("<u4")))  # the sign is the lowest bit


def unpack_integers(text: str) -> I64:
    """Return what ``pack_integers`` packed."""
    coded = _joined(inflated(text), "<u4").astype(np.int64)
    return np.cumsum(coded >> 1 ^ -(coded & 1))


def pack_floats(values: F64) -> str:
    """Pack floats, without loss; shape (n,)."""
    return deflated(_planes(values.astype("<f8")))


def unpack_floats(text: str) -> F64:
    """Return what ``pack_floats`` packed."""
    return _joined(inflated(text), "<f8")


def _planes(values: NDArray[Any]) -> bytes:
    return values.view(np.uint8).reshape(-1, values.itemsize).T.tobytes()


def _joined(planes: bytes, kind: str) -> NDArray[Any]:
    each = np.frombuffer(planes, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    return np.ascontiguousarray(each.T).view(kind).ravel()
