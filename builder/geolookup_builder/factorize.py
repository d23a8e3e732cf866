"""Numbers the distinct rows of several integer columns, in order of first appearance.

The columns are mixed into one 64-bit hash, and Arrow's hash table encodes the hashes. The
result is verified against the columns; after a collision the mix is repeated with another
seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Codes = NDArray[np.int32]
I64 = NDArray[np.int64]


def factorize(columns: Sequence[NDArray[np.generic]]) -> tuple[Codes, I64]:
    """Return a number for each row and, for each number, the first row that has it.

    ``columns`` have one length and integers of 8, 16, 32 or 64 bits; the caller views
    floats as integers.
    """
    for attempt in range(64):
        codes, first = _encode(_mix(columns, attempt))
        if all(np.array_equal(column[first][codes], column) for column in columns):
            return codes, first
    raise AssertionError("64 different hashes collided")


def _mix(columns: Sequence[NDArray[np.generic]], attempt: int) -> NDArray[np.uint64]:
    """Return a hash for each row; the constants are those of splitmix64 (Vigna, 2015)."""
    mixed = np.full(len(columns[0]), 0x9E3779B97F4A7C15 + attempt, np.uint64)
    for column in columns:
        mixed ^= column.astype(np.int64).view(np.uint64)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _encode(hashes: NDArray[np.uint64]) -> tuple[Codes, I64]:
    encoded = pa.array(hashes).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    first = np.empty(len(encoded.dictionary), np.int64)
    # Of repeated indices numpy keeps the last assignment: in reverse order, the first row.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, first
