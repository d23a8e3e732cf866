"""Local times as texts for whole columns: digits laid out as columns of bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ZERO = 48
_DAY = 86400


def iso_texts(seconds: Int64, offset: NDArray[np.int32], unknown: Bools) -> pa.Array:
    """Return ``YYYY-MM-DDTHH:MM:SS±HH:MM`` for Unix seconds and offsets in seconds.

    ``offset`` is in whole minutes; null where ``unknown``. RFC 3339, years 1 to 9999.
    """
    local = np.where(unknown, 0, seconds + offset)
    days = local // _DAY
    of_day = local - days * _DAY
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
    for at, letter in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")):
        text[:, at] = ord(letter)
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
