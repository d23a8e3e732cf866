"""Columns of instants: read from timestamps or Unix times, and written as local times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.gregorian import DAY
from geolookup.contract.localtime import EARLIEST, LATEST
from geolookup.errors import RowNote

#: Ticks of each unit of timestamps.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ZERO = 48


@dataclass(frozen=True, slots=True)
class Instants:
    """n whole Unix seconds, EARLIEST <= second < LATEST; 0 where the instant is null."""

    seconds: NDArray[np.int64]
    stated: NDArray[np.bool_]

    def slice(self, begin: int, count: int) -> Instants:
        """Return those of some rows."""
        rows = slice(begin, begin + count)
        return Instants(self.seconds[rows], self.stated[rows])


def instants_of(array: pa.Array, begin: int = 0) -> Instants:
    """Return the instants of a column of aware timestamps, or of Unix times, floored.

    Raises TypeError for timestamps without a time zone and for other types, ValueError for
    NaN and instants outside the contract's range; ``begin`` is the number of the first row,
    for the message.
    """
    stated = array.is_valid().to_numpy(zero_copy_only=False)
    seconds = _numbers(array)
    wrong = np.flatnonzero(~((seconds >= EARLIEST) & (seconds < LATEST)))  # so is NaN
    if len(wrong):
        error = ValueError("at must be from 0001-01-02 to before 9999-12-31, UTC")
        error.add_note(RowNote(begin + int(wrong[0])))
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
        return ticks // PER_SECOND[kind.unit]
    if pa.types.is_floating(kind):
        return _plain(array).astype(np.float64)
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return _plain(array if pa.types.is_integer(kind) else array.cast(pa.int64()))
    raise TypeError(f"at must hold timestamps or Unix times, not {kind}")


def _plain(array: pa.Array) -> NDArray[Any]:
    # The values under nulls are undefined: they must not be checked.
    plain: NDArray[Any] = array.fill_null(0).to_numpy(zero_copy_only=False)
    return plain


def iso_texts(seconds: Int64, offset: NDArray[np.int32], unknown: Bools) -> pa.Array:
    """Return ``YYYY-MM-DDTHH:MM:SS±HH:MM`` for n Unix seconds and offsets in seconds.

    The digits are columns of a matrix of bytes, so that no row is formatted by itself.
    ``offset`` is in whole minutes; null where ``unknown``. RFC 3339, years 1 to 9999.
    """
    local = np.where(unknown, 0, seconds + offset)
    days = local // DAY
    of_day = local - days * DAY
    date = days.astype("M8[D]")
    month = date.astype("M8[M]")
    months = month.astype(np.int64)
    text = np.empty((len(seconds), 25), np.uint8)
    _digits(text[:, 0:4], months // 12 + 1970)
    _digits(text[:, 5:7], months % 12 + 1)
    _digits(text[:, 8:10], (date - month.astype("M8[D]")).astype(np.int64) + 1)
    _digits(text[:, 11:13], of_day // 3600)
    _digits(text[:, 14:16], of_day // 60 % 60)
    _digits(text[:, 17:19], of_day % 60)
    for at, separator in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")):
        text[:, at] = ord(separator)
    _put_offset(text[:, 19:], offset)
    return _texts(text, unknown)


def offset_texts(offset: NDArray[np.int32], unknown: Bools) -> pa.Array:
    """Return ``±HH:MM`` for offsets in seconds; null where ``unknown``."""
    text = np.empty((len(offset), 6), np.uint8)
    _put_offset(text, offset)
    return _texts(text, unknown)


def _put_offset(text: NDArray[np.uint8], offset: NDArray[np.int32]) -> None:
    size = np.abs(offset.astype(np.int64)) // 60
    text[:, 0] = np.where(offset < 0, ord("-"), ord("+"))
    _digits(text[:, 1:3], size // 60)
    text[:, 3] = ord(":")
    _digits(text[:, 4:6], size % 60)


def _digits(text: NDArray[np.uint8], number: Int64) -> None:
    for at in reversed(range(text.shape[1])):
        number, digit = np.divmod(number, 10)
        text[:, at] = digit + _ZERO


def _texts(text: NDArray[np.uint8], unknown: Bools) -> pa.Array:
    """Return the rows of a matrix as an Arrow column."""
    count, width = text.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    validity = pa.array(~unknown).buffers()[1]
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))]
    return pa.Array.from_buffers(pa.string(), count, buffers)
