"""Runs of equal neighbours, and numbers for the distinct rows of several columns.

A row is the values of all columns at one index. Distinct rows are numbered in order of first
appearance. For that, the columns are combined into as few 64-bit keys as their values need; equal
rows have equal keys. A small key is an index into a table, one key is encoded by Arrow's hash
table. Several keys are mixed into one 64-bit hash. The result is verified against the keys; after
a collision the mix is repeated with another seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, I64, U64, Addresses, Bools

Codes = NDArray[np.int32]
_ALL = (1 << 64) - 1


def run_starts(*columns: NDArray[Any], size: int = 0) -> Bools:
    """Mark each row that differs from the row before in any column; the first row is marked.

    The columns and the result have the shape (n,). NaN equals NaN. Example: the columns 7 7 7 5
    and 1 1 2 2 have the runs (7, 1) twice, (7, 2) and (5, 2): True False True True. Indexed by
    the result, a column has one value for each run. Without columns, ``size`` rows are equal.
    """
    starts = np.zeros(len(columns[0]) if columns else size, bool)
    starts[:1] = True
    for column in columns:
        after, before = column[1:], column[:-1]
        differs = after != before
        if column.dtype.kind == "f":
            # Only NaN differs from itself.
            differs &= (after == after) | (before == before)
        starts[1:] |= differs
    return starts


def join_runs(
    starts: Addresses, columns: Mapping[str, NDArray[Any]]
) -> tuple[Addresses, dict[str, NDArray[Any]]]:
    """Join neighbouring intervals of a partition that are equal in all columns.

    Columns that share an array share the result. Example: the starts 0 10 20 with the column
    7 7 5 become the starts 0 20 with the column 7 5.
    """
    arrays = {id(column): column for column in columns.values()}
    kept = run_starts(*arrays.values())
    if kept.all():
        return starts, dict(columns)
    joined = {key: array[kept] for key, array in arrays.items()}
    return starts[kept], {name: joined[id(column)] for name, column in columns.items()}


@dataclass(frozen=True, slots=True)
class Distinct:
    """m distinct combinations of the values of n rows."""

    columns: list[NDArray[Any]]  # each of shape (m,)
    weight: F64  # (m,): the summed weight of the rows with this combination
    of_row: Codes  # (n,): the number of each row's combination


def distinct(columns: Sequence[NDArray[Any]], weight: NDArray[Any] | None = None) -> Distinct:
    """Sum the weights of n rows by combination; without weights, count the rows.

    The columns have the shape (n,) and hold integers. Without columns, all rows are one
    combination. Example: of the columns 7 5 7 and 1 1 1 with the weights 10 20 30, the combinations
    are 0: (7, 1) with weight 40 and 1: (5, 1) with 20; the rows have the combinations 0 1 0.
    """
    of_row, first = factorize(columns, 0 if weight is None else len(weight))
    weights = np.bincount(of_row, weight, minlength=len(first)).astype(np.float64)
    return Distinct([column[first] for column in columns], weights, of_row)


def factorize(columns: Sequence[NDArray[np.generic]], size: int = 0) -> tuple[Codes, I64]:
    """Return a number for each row and, for each number, the first row that has it.

    ``columns`` have one length and integers of 8, 16, 32 or 64 bits; the caller views
    floats as integers. Without columns, ``size`` rows are equal.
    """
    size = len(columns[0]) if columns else size
    if size == 1 or not columns:  # one row: as most tables of a small dataset
        return np.zeros(size, np.int32), np.zeros(min(size, 1), np.int64)
    keys = _keys(columns)
    if len(keys) == 1:
        return _encode(keys[0])
    for attempt in range(64):
        codes, first = _encode(mix(keys, attempt))
        if all(np.array_equal(key[first][codes], key) for key in keys):
            return codes, first
    raise AssertionError("64 different hashes collided")


class DistinctRows:
    """Numbers the distinct rows of integer columns in order of first appearance, in chunks.

    Row 0 is 0 in all columns. ``columns`` has the distinct rows so far.
    """

    def __init__(self, columns: int) -> None:
        self.columns = [np.zeros(1, np.int32)] * columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def number(self, chunk: Sequence[Codes]) -> Codes:
        """Return the number of each row of a chunk."""
        codes, first = factorize(chunk)
        pairs = zip(self.columns, chunk, strict=True)
        joined = [np.concatenate([known, column[first]]) for known, column in pairs]
        size = len(self)
        # The known rows come first: they keep their numbers.
        numbers, first = factorize(joined)
        self.columns = [column[first] for column in joined]
        return numbers[size:][codes]


def _keys(columns: Sequence[NDArray[np.generic]]) -> list[U64]:
    """Return keys of the rows: each column takes as many bits as its range of values.

    With values from -1 to 2 in one column (2 bits, plus 1) and 0 or 1 in another, the row (1, 1)
    has the key 0b10_1. The range includes 0: values from 3 to 6 take 3 bits.
    """
    keys: list[U64] = []
    width = 0  # bits of the last key
    for column in columns:
        least, greatest = int(column.min(initial=0)), int(column.max(initial=0))
        bits = (greatest - least).bit_length()
        if keys and not bits:
            continue
        # A uint64 beyond 2^63 wraps here and back below.
        above = column.astype(np.int64).view(np.uint64)
        if least:
            above -= np.uint64(least & _ALL)  # modulo 2^64
        if not keys or width + bits > 64:
            keys.append(above)
            width = bits
        else:
            keys[-1] <<= np.uint64(bits)
            keys[-1] |= above
            width += bits
    return keys


def mix(keys: Sequence[U64], attempt: int = 0) -> U64:
    """Return a hash for each row; the constants come from splitmix64 (Vigna, 2015)."""
    hashes = np.full(len(keys[0]), 0x9E3779B97F4A7C15 + attempt, np.uint64)
    for key in keys:
        hashes ^= key
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(31)
    return hashes


def _encode(keys: U64) -> tuple[Codes, I64]:
    size = int(keys.max(initial=0)) + 1
    if size <= len(keys):
        return _look_up(keys, size)
    array = pa.array(keys).dictionary_encode()
    codes = array.indices.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    # A code greater than all before it appears for the first time.
    # Codes 0 1 0 2 1: the greatest so far are 0 1 1 2 2: they grow at 0, 1 and 3.
    return codes, np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=np.int32(-1)))


def _look_up(keys: U64, size: int) -> tuple[Codes, I64]:
    """Number keys below ``size`` without a hash table."""
    first = np.full(size, -1)
    # Of repeated indices numpy keeps the last assignment: in reverse order, the first row.
    first[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    present = np.flatnonzero(first >= 0)
    # Keys 7 5 7: first row 1 for key 5, 0 for key 7. By appearance 7, 5; numbers 0 and 1.
    by_appearance = present[np.argsort(first[present])]
    numbers = np.empty(size, np.int32)
    numbers[by_appearance] = np.arange(len(present), dtype=np.int32)
    return numbers[keys], first[by_appearance]
