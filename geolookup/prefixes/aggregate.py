"""Ranges of addresses as the fewest aligned prefixes, for whole columns.

Strategy: a step takes the largest prefix at the beginning of each range; ranges of which something
remains take part in the next step. Example: 5 to 17. 5 is odd: 5 itself. 6 is divisible by 2: 6-7.
8 is divisible by 8: 8-15. 16 is divisible by 16, but 2 addresses remain: 16-17.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U8, U64, Addresses, concat
from geolookup.prefixes.spans import Spans

_ONE = np.uint64(1)
_ALL = ~np.uint64(0)


class Prefixes(NamedTuple):
    """n prefixes of one family: their first addresses in 128 bits, and their lengths (n,)."""

    family: int
    first: Addresses
    lengths: U8


def prefixes_of(spans: Spans) -> tuple[Prefixes, I64]:
    """Return the fewest aligned prefixes of each range, and the number of the range of each.

    The prefixes are in address order. Adjacent ranges are not joined: ``spans.join`` does that.
    """
    begin, last, rows = spans.first, spans.last, np.arange(len(spans))
    steps: list[tuple[I64, Addresses, I64]] = []
    while len(rows) or not steps:
        (low, high), (low_mask, high_mask) = begin.halves(), _largest(begin, last)
        steps.append((rows, begin, _ones(low_mask) + _ones(high_mask)))
        end = Addresses(low | low_mask, high | high_mask)
        left = np.flatnonzero(~end.equals(last))
        begin, last, rows = end[left].successor(), last[left], rows[left]
    of = np.concatenate([rows for rows, _, _ in steps])
    counts = np.bincount(of, minlength=len(spans))
    before = np.cumsum(counts) - counts
    # Ranges 0 and 1 with 2 and 1 prefixes: the steps [0 1] [0] have the places [0 2] [1].
    places = np.concatenate([before[rows] + step for step, (rows, _, _) in enumerate(steps)])
    order = np.empty_like(places)
    order[places] = np.arange(len(places))
    lengths = BITS[spans.family] - np.concatenate([bits for _, _, bits in steps])[order]
    first = concat([begin for _, begin, _ in steps])[order]
    return Prefixes(spans.family, first, lengths.astype(np.uint8)), of[order]


def _largest(begin: Addresses, last: Addresses) -> tuple[U64, U64]:
    """Return the host mask of the largest prefix that begins a range and lies in it, low first."""
    # 8 to 17: 9 more addresses, 0b1001. Masks of at most that: 0b111; 0b1111 would be 16 addresses.
    low, high = last.minus(begin).halves()
    low_mask, high_mask = np.where(high != 0, _ALL, _fill(low)), _fill(high)
    is_whole = (low_mask == low) & (high_mask == high)
    low_half, high_half = low_mask >> _ONE | high_mask << np.uint64(63), high_mask >> _ONE
    # ~8 & (8 - 1) are the zeros below the lowest bit of 8, 0b111; of 0 they are all.
    (low, high), (low_less, high_less) = begin.halves(), begin.predecessor().halves()
    size = np.where(is_whole, low_mask, low_half), np.where(is_whole, high_mask, high_half)
    return ~low & low_less & size[0], ~high & high_less & size[1]


def _fill(words: U64) -> U64:
    """Set all bits below the highest one that is set."""
    # 0b10000, 0b11000, 0b11110, 0b11111: the number of ones doubles.
    for shift in (1, 2, 4, 8, 16, 32):
        words = words | words >> np.uint64(shift)
    return words


def _ones(masks: U64) -> I64:
    """Return the number of ones of each mask, such as 3 of 0b111."""
    # 0b111 ^ 0b11 is 0b100, a power of two, which floats have exactly: frexp(4.0) is (0.5, 3).
    return np.frexp((masks ^ masks >> _ONE).astype(np.float64))[1].astype(np.int64)
