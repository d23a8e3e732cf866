"""Columns of short texts as matrices of bytes, and their parsing as integers of up to 128 bits.

Strategy: the texts of up to ``CHUNK`` rows are laid out as byte columns (all first bytes, all
second bytes, ...), which stay in cache; one numpy operation a column then works on all rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import IPV6_MAX
from geolookup.dataset.intervals import I64, U64, Bools

CHUNK = 32 * 1024
U8 = NDArray[np.uint8]
_DIGITS = len(str(IPV6_MAX))


def byte_columns(data: U8, starts: I64, lengths: I64) -> U8:
    """Return the texts as a matrix (longest, n): row j holds every text's byte j, or 0."""
    longest = int(lengths.max())
    columns = np.zeros((longest, len(starts)), np.uint8)
    shortest = int(lengths.min())
    for at in range(longest):
        if at < shortest:
            columns[at] = data[starts + at]
        else:
            rows = np.flatnonzero(lengths > at)
            columns[at, rows] = data[starts[rows] + at]
    return columns


def parse_integers(data: U8, starts: I64, lengths: I64) -> tuple[U64, U64, Bools]:
    """Parse decimal integers below 2^128; return high halves, low halves and the valid rows."""
    size = len(starts)
    high, low = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    good = np.zeros(size, bool)
    for begin in range(0, size, CHUNK):
        rows = begin + np.flatnonzero(_is_integer_length(lengths[begin : begin + CHUNK]))
        if len(rows):
            text = byte_columns(data, starts[rows], lengths[rows])
            high[rows], low[rows], good[rows] = _integers(text, lengths[rows])
    return high, low, good


def _is_integer_length(lengths: I64) -> Bools:
    return (lengths >= 1) & (lengths <= _DIGITS)


def _integers(text: U8, lengths: I64) -> tuple[U64, U64, Bools]:
    size = text.shape[1]
    high, low = np.zeros(size, np.uint64), np.zeros(size, np.uint64)
    bad = np.zeros(size, bool)
    for at, column in enumerate(text):
        digit = column - np.uint8(48)
        live = lengths > at
        bad |= live & (digit > 9)
        next_high, next_low, overflow = _times_ten_plus(high, low, digit.astype(np.uint64))
        bad |= live & overflow
        high, low = np.where(live, next_high, high), np.where(live, next_low, low)
    return high, low, ~bad


def _times_ten_plus(high: U64, low: U64, digit: U64) -> tuple[U64, U64, Bools]:
    """Return (high, low) * 10 + digit, and the mask of rows that overflow 128 bits."""
    ten, half, mask = np.uint64(10), np.uint64(32), np.uint64(0xFFFF_FFFF)
    small = (low & mask) * ten + digit
    large = (low >> half) * ten + (small >> half)
    limit = np.uint64(((1 << 64) - 1) // 10)
    next_high = high * ten + (large >> half)
    overflow = (high > limit) | (next_high < (large >> half))
    return next_high, large << half | (small & mask), overflow
