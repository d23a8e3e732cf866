"""Columns of instants: timestamps or Unix times to whole Unix seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.localtime import EARLIEST, LATEST

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class Instants:
    """n whole Unix seconds, EARLIEST <= second < LATEST; 0 where none is stated."""

    seconds: NDArray[np.int64]
    stated: NDArray[np.bool_]


def instants_of(array: pa.Array, begin: int = 0) -> Instants:
    """Return the instants of a column of aware timestamps, or of Unix times, floored.

    Null is no instant. Raises TypeError for timestamps without a time zone and
    for what is no time, ValueError for NaN and outside the contract's range;
    ``begin`` is the first row's number, for the message.
    """
    stated = array.is_valid().to_numpy(zero_copy_only=False)
    seconds = _numbers(array)
    wrong = np.flatnonzero(~((seconds >= EARLIEST) & (seconds < LATEST)))  # so is NaN
    if len(wrong):
        error = ValueError("at must be from 0001-01-02 to before 9999-12-31, UTC")
        error.add_note(f"in row {begin + int(wrong[0])}, counted from 0")
        raise error
    whole = np.floor(seconds) if seconds.dtype.kind == "f" else seconds
    return Instants(whole.astype(np.int64, copy=False), stated)


def _numbers(array: pa.Array) -> NDArray[Any]:
    """Return Unix times as numbers, 0 where they are null; whole where they are timestamps."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        if kind.tz is None:
            raise TypeError(
                "the timestamps of at have no time zone; give them one (UTC, if that is what"
                " they are in)"
            )
        ticks = _plain(array.cast(pa.int64()))
        return ticks // _PER_SECOND[kind.unit]
    if pa.types.is_floating(kind):
        return _plain(array).astype(np.float64)
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return _plain(array if pa.types.is_integer(kind) else array.cast(pa.int64()))
    raise TypeError(f"at must hold timestamps or Unix times, not {kind}")


def _plain(array: pa.Array) -> NDArray[Any]:
    # Under null lies anything: it must not be judged.
    plain: NDArray[Any] = array.fill_null(0).to_numpy(zero_copy_only=False)
    return plain
