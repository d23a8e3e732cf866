"""Ranges of addresses as the fewest aligned prefixes, for whole columns.

Strategy: a range that is not one prefix is split at its most aligned address. The bits of the
distance from the first address to there are the sizes of the prefixes before it, in ascending
order; the bits of the distance to the end are the sizes after it, in descending order. So the
sizes are read bit by bit, for all ranges at once. Example: 5 to 17 is split at 16. 16 - 5 is
0b1011: prefixes of 1, 2 and 8 addresses (5, 6-7, 8-15). 18 - 16 is 0b10: one of 2 (16-17).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U8, U64, Bools
from geolookup.prefixes.spans import Halves, Spans

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)
#: Masks of the pairs, nibbles and bytes whose bits are counted together.
#: (1 << 64) // 255 is 0x0101...01: a product with it adds all bytes into the highest one.
_PAIRS, _NIBBLES, _BYTES, _SUM = (
    np.uint64(mask)
    for mask in (
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0F0F_0F0F_0F0F_0F0F,
        (1 << 64) // 255,
    )
)


class Prefixes(NamedTuple):
    """n prefixes of one family: the halves of their first addresses, and their lengths in bits.

    The columns have the shape (n,). Of IPv4 the high halves are 0.
    """

    family: int
    high: U64
    low: U64
    lengths: U8


class _Split(NamedTuple):
    """m ranges that are not one prefix: the split, and the distances to both ends."""

    middle: Halves
    before: Halves
    after: Halves


#: Some prefixes: their positions in the result, first addresses, and numbers of host bits.
_Put = tuple[I64, Halves, I64]


def prefixes_of(spans: Spans) -> tuple[Prefixes, I64]:
    """Return the fewest aligned prefixes of each range, and the number of the range of each.

    The prefixes are in address order. Adjacent ranges are not joined: ``spans.join`` does that.
    """
    first, last = spans.first, spans.last
    mask = _mask(first, last)
    rows = np.flatnonzero(_is_split(first, last, mask))
    split = _split(*(halves.take(rows) for halves in (first, last, mask)))
    counts = np.ones(len(spans), np.int64)
    counts[rows] = _popcounts_128(split.before) + _popcounts_128(split.after)
    of = np.repeat(np.arange(len(spans)), counts)
    # This is right for the ranges that are one prefix; the others are overwritten.
    high, low, host_bits = first.high[of], first.low[of], _popcounts_128(mask)[of]
    ends = np.cumsum(counts)[rows]
    for at, start, bits in (*_before(split, ends - counts[rows]), *_after(split, ends)):
        high[at], low[at], host_bits[at] = *start, bits
    return Prefixes(spans.family, high, low, (BITS[spans.family] - host_bits).astype(np.uint8)), of


def _mask(first: Halves, last: Halves) -> Halves:
    """Return the host mask of the smallest prefix that holds each range."""
    # 5 and 17 differ in 0b10100: the mask is 0b11111. If the high halves differ, all of the low.
    high, low = first.high ^ last.high, first.low ^ last.low
    return Halves(_fill(high), np.where(high != 0, _ALL, _fill(low)))


def _fill(words: U64) -> U64:
    """Set all bits below the highest one that is set."""
    # 0b10000, 0b11000, 0b11110, 0b11111: the number of ones doubles.
    for shift in (1, 2, 4, 8, 16, 32):
        words = words | words >> np.uint64(shift)
    return words


def _is_split(first: Halves, last: Halves, mask: Halves) -> Bools:
    """Mark the ranges that are not the whole prefix of a host mask."""
    differs = np.zeros(len(first.low), np.uint64)
    for begin, end, bits in zip(first, last, mask, strict=True):
        # A whole prefix begins with host bits 0 and ends with host bits 1.
        differs |= begin & bits | ~end & bits
    marks: Bools = differs != 0
    return marks


def _split(first: Halves, last: Halves, mask: Halves) -> _Split:
    # Of 5 to 17: half 15, middle 17 & ~15 = 16, before 16 - 5 = 11, after (17 & 15) + 1 = 2.
    half = Halves(mask.high >> _ONE, mask.low >> _ONE | mask.high << np.uint64(63))
    middle = Halves(last.high & ~half.high, last.low & ~half.low)
    after = Halves(last.high & half.high, last.low & half.low).successor()
    return _Split(middle, middle.minus(first), after)


def _before(split: _Split, begins: I64) -> Iterator[_Put]:
    """Yield the prefixes from the first addresses to the middle.

    ``begins`` are the positions of the first one of each range.
    """
    (middle, before, _), zero = split, np.zeros_like(begins, np.uint64)
    for rows, nth, remaining, bit in _bits(before.low):
        distance = Halves(before.high[rows], remaining)
        # 16 - 11, 16 - 10 and 16 - 8: 5, 6 and 8. Bit 8 less 1 has three ones: three host bits.
        yield begins[rows] + nth, middle.take(rows).minus(distance), _popcounts(bit - _ONE)
    begins = begins + _popcounts(before.low)
    for rows, nth, remaining, bit in _bits(before.high):
        start = middle.take(rows).minus(Halves(remaining, zero[rows]))
        yield begins[rows] + nth, start, _popcounts(bit - _ONE) + 64


def _after(split: _Split, ends: I64) -> Iterator[_Put]:
    """Yield the prefixes from the middle to the last addresses.

    ``ends`` are the positions after the last one of each range.
    """
    middle, _, after = split
    for rows, nth, remaining, bit in _bits(after.low):
        # The bits above the current one are the larger prefixes; they lie before it.
        start = Halves(middle.high[rows] | after.high[rows], middle.low[rows] | remaining ^ bit)
        # From the lowest bit up, so from the last prefix back.
        yield ends[rows] - 1 - nth, start, _popcounts(bit - _ONE)
    ends = ends - _popcounts(after.low)
    for rows, nth, remaining, bit in _bits(after.high):
        start = Halves(middle.high[rows] | remaining ^ bit, middle.low[rows])
        yield ends[rows] - 1 - nth, start, _popcounts(bit - _ONE) + 64


def _bits(words: U64) -> Iterator[tuple[I64, int, U64, U64]]:
    """Yield, for n from 0, the nth lowest bit that is set in each word that has one.

    A step is the rows of these words, n, the words without lower bits, and the bit.
    """
    rows, nth = np.flatnonzero(words), 0
    remaining = words[rows]
    while len(rows):
        # The lowest bit that is set: 0b1011 & -0b1011 is 1; then 0b1010 gives 2, 0b1000 gives 8.
        bit = remaining & (~remaining + _ONE)
        yield rows, nth, remaining, bit
        remaining, nth = remaining ^ bit, nth + 1
        left = np.flatnonzero(remaining)
        rows, remaining = rows[left], remaining[left]


def _popcounts_128(halves: Halves) -> I64:
    """Return the number of bits that are set in each integer of 128 bits."""
    return _popcounts(halves.high) + _popcounts(halves.low)


def _popcounts(words: U64) -> I64:
    """Return the number of bits that are set in each word; numpy has this from version 2 on."""
    # Bits counted in ever wider fields, 0b1011 as pairs: 0b01_10 -> as nibble 3 (Hacker's Delight,
    # section 5-1).
    words = words - (words >> _ONE & _PAIRS)
    words = (words & _NIBBLES) + (words >> np.uint64(2) & _NIBBLES)
    words = words + (words >> np.uint64(4)) & _BYTES
    return (words * _SUM >> np.uint64(56)).astype(np.int64)
