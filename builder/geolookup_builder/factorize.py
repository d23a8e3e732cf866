"""Equal rows of several integer columns to one number each, in order of first appearance.

Strategy: the columns are mixed into one 64-bit hash, the hashes are encoded
by Arrow's hash table, and the result is compared with the columns themselves:
two rows that share a hash by chance are found and the mix is changed.
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

    ``columns`` are of one length and of 8, 16, 32 or 64 bit integers; floats
    are to be viewed as integers by the caller.
    """
    for attempt in range(64):
        codes, first = _encode(_mix(columns, attempt))
        if all(np.array_equal(column[first][codes], column) for column in columns):
            return codes, first
    raise AssertionError("64 different hashes collided: a defect of the mix")


def _mix(columns: Sequence[NDArray[np.generic]], attempt: int) -> NDArray[np.uint64]:
    """Fold the columns together; the constants are those of splitmix64."""
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
    # Of repeated indices the last assignment stands, so going backwards leaves the first row.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return codes, first
