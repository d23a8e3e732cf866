"""CRC-32C (Castagnoli), the checksum of a row's text, in Python.

The reference implementation. ``layout`` holds the polynomial. The compiled kernel computes the
same, by the processor's instruction where there is one (``kernel/_crc32c.h``).

References: RFC 3720, sections 12.1 and B.4; Castagnoli, Braeuer and Herrmann, Optimization of
cyclic redundancy-check codes with 24 and 32 parity bits, 1993.
"""

from __future__ import annotations

from functools import cache

from geolookup.dataset.layout import POLYNOMIAL

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_ONES = 0xFFFF_FFFF
#: Texts whose checksums are computed together, and the most bytes that such a text has.
_PART, _LONG = 1 << 15, 512


def crc32c(data: Iterable[int]) -> int:
    """Return the CRC-32C of bytes."""
    table, crc = _table(), _ONES
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ _ONES


def checksums(
    data: NDArray[np.uint8], offsets: NDArray[np.int32], sums: NDArray[np.uint32]
) -> None:
    """Fill in the CRC-32C of n texts; see ``kernel.protocol.Implementation``."""
    import numpy as np

    bounds = offsets.astype(np.int64)
    lengths = bounds[1:] - bounds[:-1]
    if len(bounds) != len(sums) + 1:
        raise ValueError("the columns differ in length")
    if bounds[0] < 0 or bounds[-1] > len(data) or (lengths < 0).any():
        raise ValueError("a text is outside the data")
    for begin in range(0, len(sums), _PART):
        part = slice(begin, begin + _PART)
        sums[part] = _sums(data, bounds[:-1][part], np.minimum(lengths[part], _LONG))
    for row in np.flatnonzero(lengths > _LONG):
        sums[row] = crc32c(data[bounds[row] : bounds[row + 1]].tobytes())


def _sums(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint32]:
    """Return the checksums of texts: one step for the first byte of all, one for the second, ..."""
    import numpy as np

    table = np.array(_table(), np.uint32)
    longest_first = np.argsort(-lengths)
    starts, crc = starts[longest_first], np.full(len(starts), _ONES, np.uint32)
    # How many texts have a byte at each position: those at the beginning of the order.
    counts = len(lengths) - np.cumsum(np.bincount(lengths))
    for at, count in enumerate(counts[:-1].tolist()):
        before = crc[:count]
        crc[:count] = table[(before ^ data[starts[:count] + at]) & 0xFF] ^ before >> np.uint32(8)
    sums = np.empty_like(crc)
    sums[longest_first] = crc ^ np.uint32(_ONES)
    return sums


@cache
def _table() -> tuple[int, ...]:
    """Return the remainder of each byte; computed when the first row is checked."""
    return tuple(map(_of_byte, range(256)))


def _of_byte(crc: int) -> int:
    for _ in range(8):
        crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc
