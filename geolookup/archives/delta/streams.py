"""The arrays of a patch, one after the other: their number of values, then a Zstandard frame.

The bytes of the same significance of all values come together, least significant first: the
upper bytes of small numbers are then runs of zeros. Numbers are little-endian.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_HEAD = struct.Struct("<QQ")
#: Level 19 takes about 0.5 s for a megabyte, level 6 a twentieth of that.
_LEVEL, _FAST_LEVEL, _FAST_FROM = 19, 6, 2 << 20


class PatchError(ValueError):
    """A patch that does not describe a file over its base."""


def encode_numbers(values: NDArray[Any]) -> bytes:
    """Return an array of numbers as bytes that ``Streams.next`` reads."""
    if not len(values):
        return _HEAD.pack(0, 0)
    # 1, 2 and 258 in 32 bits, by plane:  01 02 02 | 00 00 01 | 00 00 00 | 00 00 00
    rows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)
    frame = _compress(np.ascontiguousarray(rows.T))
    return _HEAD.pack(len(values), len(frame)) + frame


def _compress(data: NDArray[np.uint8]) -> bytes:
    level = _LEVEL if data.size < _FAST_FROM else _FAST_LEVEL
    frame: bytes = pa.Codec("zstd", compression_level=level).compress(data, asbytes=True)
    return frame


class Streams:
    """The arrays of a patch, read in order; PatchError for a damaged or too long one."""

    def __init__(self, patch: bytes | memoryview) -> None:
        self._remaining = memoryview(patch)
        self._codec = pa.Codec("zstd")

    def byte(self) -> int:
        """Return a single byte."""
        return self._bytes(1)[0]

    def next(self, dtype: type[np.unsignedinteger[Any]], most: int) -> NDArray[Any]:
        """Return the next array, of ``most`` values at most; memory is taken after that check."""
        count, size = _HEAD.unpack(self._bytes(_HEAD.size))
        if count > most:
            raise PatchError(f"{count} values where {most} are the most")
        frame, width = self._bytes(size), np.dtype(dtype).itemsize
        try:
            data = self._codec.decompress(frame, count * width) if count else b""
        except (OSError, ValueError) as error:  # the base classes of Arrow's errors
            raise PatchError("a damaged Zstandard frame") from error
        # The Zstandard frame has no more bytes than asked for: Arrow refuses any other size.
        planes = np.frombuffer(data, np.uint8).reshape(width, count)
        return np.ascontiguousarray(planes.T).view(dtype).reshape(count)

    def exactly(self, dtype: type[np.unsignedinteger[Any]], count: int) -> NDArray[Any]:
        """Return the next array, of ``count`` values."""
        values = self.next(dtype, count)
        if len(values) != count:
            raise PatchError(f"{len(values)} values where {count} belong")
        return values

    def end(self) -> None:
        """Raise PatchError unless all is read."""
        if len(self._remaining):
            raise PatchError("bytes follow the last array")

    def _bytes(self, size: int) -> memoryview:
        if size > len(self._remaining):
            raise PatchError("truncated")
        data, self._remaining = self._remaining[:size], self._remaining[size:]
        return data
