"""Addresses of one family as sorted-and-searched arrays; 128 bits as two 64-bit halves.

Everything above this module orders, merges and measures addresses without
knowing the family. IPv4 leaves the high half out, which halves its memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import MAX
from geolookup.contract.special import Range
from geolookup.dataset.address_columns import count_up_to

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ONE = np.uint64(1)
_ALL = ~np.uint64(0)


@dataclass(frozen=True, slots=True)
class Points:
    """Addresses of one family: ``low`` (n,) uint64, and ``high`` likewise for IPv6."""

    low: U64
    high: U64 | None = None

    @classmethod
    def of(cls, family: int, values: Iterable[int]) -> Points:
        """Build from Python integers; for the few addresses of tables and bounds."""
        listed = list(values)
        low = np.array([value & int(_ALL) for value in listed], np.uint64)
        if family == 4:
            return cls(low)
        return cls(low, np.array([value >> 64 for value in listed], np.uint64))

    @property
    def family(self) -> int:
        """4 or 6."""
        return 4 if self.high is None else 6

    @property
    def maximum(self) -> int:
        """The last address of the family."""
        return MAX[self.family]

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, index: slice | I64 | Bools) -> Points:
        return Points(self.low[index], None if self.high is None else self.high[index])

    def item(self, index: int) -> int:
        """Return one address as a Python integer."""
        high = 0 if self.high is None else int(self.high[index])
        return high << 64 | int(self.low[index])

    def order(self) -> I64:
        """Return the stable ascending order."""
        if self.high is None:
            return np.argsort(self.low, kind="stable")
        if not np.any(self[1:] < self[:-1]):  # as most files are; a sort costs ten times more
            return np.arange(len(self.low))
        return np.lexsort((self.low, self.high))

    def __lt__(self, other: Points) -> Bools:
        if self.high is None or other.high is None:
            return np.less(self.low, other.low)
        less: Bools = (self.high == other.high) & (self.low < other.low)
        return less | (self.high < other.high)

    def equals(self, other: Points) -> Bools:
        """Compare element by element."""
        same: Bools = self.low == other.low
        if self.high is not None and other.high is not None:
            same &= self.high == other.high
        return same

    def successor(self) -> Points:
        """Return each address + 1; the family's last address has none and must not be here."""
        low = self.low + _ONE
        return Points(low, None if self.high is None else self.high + (low == 0))

    def predecessor(self) -> Points:
        """Return each address - 1; address 0 has none and must not be here."""
        return Points(self.low - _ONE, None if self.high is None else self.high - (self.low == 0))

    def is_last(self) -> Bools:
        """Mark the family's last address."""
        if self.high is None:
            return np.equal(self.low, np.uint64(MAX[4]))
        last: Bools = (self.low == _ALL) & (self.high == _ALL)
        return last

    def minus(self, other: Points) -> Points:
        """Return the differences; nothing here may be less than its counterpart."""
        low = self.low - other.low
        if self.high is None or other.high is None:
            return Points(low)
        return Points(low, self.high - other.high - (self.low < other.low))

    def sizes_less_one(self) -> Points:
        """Return the intervals' last addresses minus their starts, which these sorted points are.

        One less, for the size of a whole family does not fit.
        """
        end = Points.of(self.family, [self.maximum])
        return concat([self[1:].predecessor(), end]).minus(self)

    def search(self, values: Points) -> I64:
        """Return, for each value, how many of these sorted points are <= it."""
        return count_up_to(self.high, self.low, values.high, values.low)

    def total(self) -> int:
        """Return the exact sum, as a Python integer."""
        halves = [self.low] if self.high is None else [self.low, self.high]
        mask, total = np.uint64(0xFFFF_FFFF), 0
        for at, half in enumerate(halves):
            # 32-bit limbs, so that a sum of up to 2^32 of them fits.
            total += int((half & mask).sum(dtype=np.uint64)) << 64 * at
            total += int((half >> np.uint64(32)).sum(dtype=np.uint64)) << 64 * at + 32
        return total


def concat(parts: Sequence[Points]) -> Points:
    """Join arrays of one family."""
    low = np.concatenate([part.low for part in parts])
    highs = [part.high for part in parts if part.high is not None]
    return Points(low, np.concatenate(highs) if highs else None)


def cut_at(family: int, ranges: Iterable[Range]) -> tuple[Points, Bools]:
    """Cut the space of a family at the ends of ranges, and mark the intervals that they are.

    The ranges are sorted and disjoint, both ends included; the first interval starts at 0.
    """
    bounds = {0: False}
    for first, last in ranges:
        bounds |= {first: True, last + 1: False}
    bounds.pop(MAX[family] + 1, None)
    return Points.of(family, bounds), np.array(list(bounds.values()))


def clamp(points: Points, least: int, most: int) -> Points:
    """Return the points limited to ``least`` … ``most``."""
    family = points.family
    low_end, high_end = Points.of(family, [least]), Points.of(family, [most])
    return _choose(points < low_end, low_end, _choose(high_end < points, high_end, points))


def _choose(where: Bools, chosen: Points, other: Points) -> Points:
    low = np.where(where, chosen.low, other.low)
    if chosen.high is None or other.high is None:
        return Points(low)
    return Points(low, np.where(where, chosen.high, other.high))


def empty(family: int) -> Points:
    """Return no points of a family."""
    return Points.of(family, [])
