"""Weighted rows: distinct combinations with summed weights, and quantiles of the distance moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

F64 = NDArray[np.float64]
_LARGEST_KEY = (1 << 63) - 1
_PERCENTS = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Distinct:
    """m distinct combinations of the values of n rows."""

    columns: list[NDArray[Any]]  # each of shape (m,)
    weight: F64  # (m,): the summed weight of the rows with this combination
    of_row: NDArray[np.int32]  # (n,): the number of each row's combination


def distinct(columns: Sequence[NDArray[Any]], weight: F64) -> Distinct:
    """Sum the weights of n rows by combination; the columns hold integers from 0, shape (n,).

    The columns become one column of int64 keys, in a mixed radix: each column's radix is its
    largest value plus 1. Where the product of the radices would exceed an int64, the keys so
    far are replaced by the numbers 0 to m - 1 of their distinct values.
    """
    keys, size = np.zeros(len(weight), np.int64), 1
    for column in columns:
        span = int(column.max(initial=0)) + 1
        if size * span > _LARGEST_KEY:
            keys = _numbered(keys).astype(np.int64)
            size = int(keys.max(initial=0)) + 1
        keys, size = keys * span + column, size * span
    of_row = _numbered(keys)
    count = int(of_row.max(initial=-1)) + 1
    weights = np.bincount(of_row, weight, minlength=count).astype(np.float64)
    # Any row of a combination serves: its values are the same in all of them.
    example = np.zeros(count, np.int64)
    example[of_row] = np.arange(len(of_row))
    return Distinct([column[example] for column in columns], weights, of_row)


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int32]:
    """Number the distinct keys; Arrow's hashing takes half the time of numpy's sorting."""
    numbers: NDArray[np.int32] = pa.array(keys).dictionary_encode().indices.to_numpy()
    return numbers


@dataclass(frozen=True, slots=True)
class Kilometres:
    """Quantiles of the distance moved in km, of addresses with coordinates in both datasets.

    p90 is the least distance that at least 90 % of them do not exceed; 0 if there are none.
    """

    of: float  # the weight of these addresses
    p50: float
    p90: float
    p99: float
    max: float


def quantiles(moved: F64, weights: F64) -> Kilometres:
    """Return the weighted quantiles of distances in km, without those that are NaN."""
    known = np.flatnonzero(~np.isnan(moved))
    if not len(known):
        return Kilometres(0.0, 0.0, 0.0, 0.0, 0.0)
    order = known[np.argsort(moved[known])]
    passed = np.cumsum(weights[order])
    # Multiplied, not divided, so that whole weights are compared exactly.
    at = [np.searchsorted(passed * 100, passed[-1] * percent) for percent in _PERCENTS]
    p50, p90, p99, most = (float(moved[order[i]]) for i in (*at, -1))
    return Kilometres(float(passed[-1]), p50, p90, p99, most)
