"""Ranges of addresses as the fewest aligned prefixes, for whole columns.

Strategy: a step takes the largest prefix at the beginning of each range; ranges of which something
remains take part in the next step. Example: 5 to 17. 5 is odd: 5 itself. 6 is divisible by 2: 6-7.
8 is divisible by 8: 8-15. 16 is divisible by 16, but 2 addresses remain: 16-17.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U8, U64
from geolookup.prefixes.spans import Halves, Spans

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)


class Prefixes(NamedTuple):
    """n prefixes of one family: the halves of their first addresses, and their lengths in bits.

    The columns have the shape (n,). Of IPv4 the high halves are 0.
    """

    family: int
    high: U64
    low: U64
    lengths: U8


def prefixes_of(spans: Spans) -> tuple[Prefixes, I64]:
    """Return the fewest aligned prefixes of each range, and the number of the range of each.

    The prefixes are in address order. Adjacent ranges are not joined: ``spans.join`` does that.
    """
    begin, last, rows = spans.first, spans.last, np.arange(len(spans))
    steps: list[tuple[I64, Halves, U64]] = []
    while len(rows) or not steps:
        mask = _largest(begin, last)
        steps.append((rows, begin, _bits_below(mask.high) + _bits_below(mask.low)))
        end = Halves(begin.high | mask.high, begin.low | mask.low)
        left = np.flatnonzero((end.high != last.high) | (end.low != last.low))
        begin, last, rows = end.take(left).successor(), last.take(left), rows[left]
    of = np.concatenate([rows for rows, _, _ in steps])
    counts = np.bincount(of, minlength=len(spans))
    before = np.cumsum(counts) - counts
    # Ranges 0 and 1 with 2 and 1 prefixes: the steps [0 1] [0] have the places [0 2] [1].
    places = np.concatenate([before[rows] + step for step, (rows, _, _) in enumerate(steps)])
    high, low, host_bits = (np.empty(len(of), np.uint64) for _ in range(3))
    high[places], low[places] = (
        np.concatenate(half) for half in zip(*(begin for _, begin, _ in steps), strict=True)
    )
    host_bits[places] = np.concatenate([bits for _, _, bits in steps])
    lengths = (BITS[spans.family] - host_bits.astype(np.int64)).astype(np.uint8)
    return Prefixes(spans.family, high, low, lengths), np.repeat(np.arange(len(spans)), counts)


def _largest(begin: Halves, last: Halves) -> Halves:
    """Return the host mask of the largest prefix that begins a range and lies in it."""
    # 8 to 17: 9 more addresses, 0b1001. Masks of at most that: 0b111; 0b1111 would be 16 addresses.
    more = last.minus(begin)
    size = _fill(more)
    is_whole = (size.high == more.high) & (size.low == more.low)
    half = Halves(size.high >> _ONE, size.low >> _ONE | size.high << np.uint64(63))
    # ~8 & (8 - 1) are the zeros below the lowest bit of 8, 0b111; of 0 they are all.
    before = begin.minus(Halves(np.zeros_like(begin.high), np.ones_like(begin.low)))
    high, low = (
        ~at & below & np.where(is_whole, whole, halved)
        for at, below, whole, halved in zip(begin, before, size, half, strict=True)
    )
    return Halves(high, low)


def _fill(halves: Halves) -> Halves:
    """Set all bits below the highest one that is set."""
    high, low = halves
    # 0b10000, 0b11000, 0b11110, 0b11111: the number of ones doubles.
    for shift in (1, 2, 4, 8, 16, 32):
        high, low = high | high >> np.uint64(shift), low | low >> np.uint64(shift)
    return Halves(high, np.where(high != 0, _ALL, low))


def _bits_below(masks: U64) -> I64:
    """Return the number of ones of each mask, such as 3 of 0b111."""
    # 0b111 ^ 0b11 is 0b100, a power of two, which floats have exactly: frexp(4.0) is (0.5, 3).
    return np.frexp((masks ^ masks >> _ONE).astype(np.float64))[1].astype(np.int64)
