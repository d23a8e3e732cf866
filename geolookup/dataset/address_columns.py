"""Columns of addresses of both families, as halves of 128 bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Addresses:
    """Parsed addresses: ``family`` is 4, 6 or 0 (not an address); IPv4 lies in ``low``."""

    family: U8
    high: U64
    low: U64


def count_up_to(
    highs: U64 | None, lows: NDArray[np.unsignedinteger], high: U64 | None, low: U64
) -> I64:
    """Return, for each address, how many of the sorted points are <= it.

    Points and addresses are halves of 128 bits; the high ones are None for IPv4.
    """
    if highs is None or high is None:
        return np.searchsorted(lows, low.astype(lows.dtype, copy=False), side="right")
    begin = np.searchsorted(highs, high, side="left")
    end = np.searchsorted(highs, high, side="right")
    # Among points of one high half the low halves decide: bisect all rows at once.
    while len(rows := np.flatnonzero(begin < end)):
        middle = (begin[rows] + end[rows]) >> 1
        passed = lows[middle] <= low[rows]
        begin[rows] = np.where(passed, middle + 1, begin[rows])
        end[rows] = np.where(passed, end[rows], middle)
    return begin
