"""Address intervals of 32 and 128 bits as arrays: starts, search, counts, joint intervals.

A partition of a family's address space is the sorted first addresses of its intervals; the first
one is 0, and each interval ends before the next begins. Code above this module orders, merges
and counts addresses of both families alike. IPv4 has no upper half: that saves memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import MAX
from geolookup.contract.special import Range
from geolookup.dataset import layout as fmt

U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
_ALL = ~np.uint64(0)
#: Buckets of a jump table that are searched at once.
_BUCKETS = 1 << 16


@dataclass(frozen=True, slots=True)
class MixedAddresses:
    """n addresses of both families: ``family`` is 4, 6 or 0 (no address); IPv4 lies in ``low``."""

    family: U8
    high: U64
    low: U64


@dataclass(frozen=True, slots=True)
class Addresses:
    """n addresses of one family, in any order.

    IPv4: ``low`` is uint32. IPv6: ``low`` and ``high`` are the uint64 halves.
    """

    low: NDArray[Any]
    high: U64 | None = None

    @classmethod
    def of(cls, family: int, values: Iterable[int]) -> Addresses:
        """Build from Python integers; for the few addresses of tables and bounds."""
        integers = list(values)
        if family == 4:
            return cls(np.array(integers, np.uint32))
        low = np.array([value & int(_ALL) for value in integers], np.uint64)
        return cls(low, np.array([value >> 64 for value in integers], np.uint64))

    @property
    def family(self) -> int:
        """4 or 6."""
        return 4 if self.high is None else 6

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, index: slice | NDArray[Any]) -> Addresses:
        return Addresses(self.low[index], None if self.high is None else self.high[index])

    def item(self, index: int) -> int:
        """Return one address as a Python integer."""
        high = 0 if self.high is None else int(self.high[index])
        return high << 64 | int(self.low[index])

    def columns(self) -> list[NDArray[Any]]:
        """Return the arrays of this family."""
        return [self.low] if self.high is None else [self.low, self.high]

    def order(self) -> I64:
        """Return the stable ascending order."""
        if self.high is None:
            return np.argsort(self.low, kind="stable")
        if not np.any(self[1:] < self[:-1]):  # as most files are; a sort costs ten times more
            return np.arange(len(self.low))
        return np.lexsort((self.low, self.high))

    def __lt__(self, other: Addresses) -> Bools:
        less: Bools = self.low < other.low
        if self.high is not None and other.high is not None:
            less = (self.high == other.high) & less | (self.high < other.high)
        return less

    def equals(self, other: Addresses) -> Bools:
        """Compare element by element."""
        same: Bools = self.low == other.low
        if self.high is not None and other.high is not None:
            same &= self.high == other.high
        return same

    def successor(self) -> Addresses:
        """Return each address + 1; the family's last address has none and must not be here."""
        low = self.low + self.low.dtype.type(1)
        # A low half that wraps to 0 carries 1 into the high half.
        return Addresses(low, None if self.high is None else self.high + (low == 0))

    def predecessor(self) -> Addresses:
        """Return each address - 1; 0 becomes the family's last address."""
        low = self.low - self.low.dtype.type(1)
        # (low == 0) is 1 where the low half borrows: 1:: - 1 is 0:ffff:ffff:ffff:...
        return Addresses(low, None if self.high is None else self.high - (self.low == 0))

    def halves(self) -> tuple[U64, U64]:
        """Return the low and the high 64 bits, whatever the family."""
        if self.high is not None:
            return self.low, self.high
        return self.low.astype(np.uint64), np.zeros(len(self), np.uint64)

    def is_last(self) -> Bools:
        """Mark the family's last address."""
        return self.equals(Addresses.of(self.family, [MAX[self.family]]))

    def minus(self, other: Addresses) -> Addresses:
        """Return the differences; nothing here may be less than its counterpart."""
        low = self.low - other.low
        if self.high is None or other.high is None:
            return Addresses(low)
        # Borrows 1 where the low half wraps below 0.
        return Addresses(low, self.high - other.high - (self.low < other.low))

    def search(self, values: Addresses) -> I64:
        """Return, for each value, how many of these sorted addresses are <= it."""
        return count_up_to(self.high, self.low, values.high, values.low)

    def total(self) -> int:
        """Return the exact sum, as a Python integer."""
        if self.high is None:
            return int(self.low.sum(dtype=np.uint64))
        mask, total = np.uint64(0xFFFF_FFFF), 0
        for at, half in enumerate((self.low, self.high)):
            # In 32-bit parts: a sum of up to 2^32 of them fits.
            total += int((half & mask).sum(dtype=np.uint64)) << 64 * at
            total += int((half >> np.uint64(32)).sum(dtype=np.uint64)) << 64 * at + 32
        return total


def count_up_to(highs: U64 | None, lows: Any, high: U64 | None, low: NDArray[Any]) -> I64:
    """Return, for each address, how many of the sorted addresses are <= it.

    ``highs``, ``lows`` (m,) are the halves of the sorted addresses, ``high``, ``low`` (n,) of the
    addresses to search; upper halves are None for IPv4. For IPv6, ``lows`` needs only indexing by
    an array of positions.
    """
    if highs is None or high is None:
        return np.searchsorted(lows, low.astype(lows.dtype, copy=False), side="right")
    begin = np.searchsorted(highs, high, side="left")
    end = np.searchsorted(highs, high, side="right")
    # Where upper halves are equal the lower ones decide: bisect for all such rows at once.
    # At most 64 rounds; usually two or three, as few intervals begin in one /64.
    while len(rows := np.flatnonzero(begin < end)):
        middle = (begin[rows] + end[rows]) >> 1
        passed = lows[middle] <= low[rows]
        begin[rows] = np.where(passed, middle + 1, begin[rows])
        end[rows] = np.where(passed, end[rows], middle)
    return begin


def empty(family: int) -> Addresses:
    """Return no addresses of a family."""
    return Addresses.of(family, [])


def concat(parts: Sequence[Addresses]) -> Addresses:
    """Join arrays of one family."""
    low = np.concatenate([part.low for part in parts])
    highs = [part.high for part in parts if part.high is not None]
    return Addresses(low, np.concatenate(highs) if highs else None)


def clamp(addresses: Addresses, least: int, most: int) -> Addresses:
    """Return the addresses limited to ``least`` … ``most``."""
    first, last = (Addresses.of(addresses.family, [end]) for end in (least, most))
    clamped = [column.copy() for column in addresses.columns()]
    for end, is_beyond in ((first, addresses < first), (last, last < addresses)):
        for column, value in zip(clamped, end.columns(), strict=True):
            column[is_beyond] = value
    return Addresses(*clamped)


def is_partition(starts: Addresses, first: int = 0) -> bool:
    """Say whether starts begin at an address and ascend."""
    return len(starts) > 0 and starts.item(0) == first and bool(np.all(starts[:-1] < starts[1:]))


def cut_at(family: int, ranges: Iterable[Range]) -> tuple[Addresses, Bools]:
    """Return the partition at the ends of ranges, and mark the intervals that lie in a range.

    The ranges are sorted and disjoint, both ends included.
    """
    bounds = {0: False}
    # 10-19 and 30-39: from 0 no, from 10 yes, from 20 no, from 30 yes, from 40 no. Of adjacent
    # ranges the start of the second replaces the end of the first.
    for first, last in ranges:
        bounds |= {first: True, last + 1: False}
    bounds.pop(MAX[family] + 1, None)
    return Addresses.of(family, bounds), np.array(list(bounds.values()))


def join_intervals(partitions: Sequence[Addresses]) -> tuple[Addresses, list[I64]]:
    """Return the joint intervals, and by partition the number of the interval that holds each."""
    joint, holding = partitions[0], [np.arange(len(partitions[0]))]
    for number, further in enumerate(partitions[1:]):
        joint, of_joint, of_further = _merge(joint, further)
        # The numbers of earlier partitions are by interval of the old union: look them up again.
        former = [rows[of_joint] for rows in holding] if number else [of_joint]
        holding = [*former, of_further]
    return joint, holding


def _merge(one: Addresses, other: Addresses) -> tuple[Addresses, I64, I64]:
    """Return the union of the starts, and for each the interval of either partition that holds it.

    ::

        one         |0        |10               |30             0, 10, 30
        other       |0                |20       |30             0, 20, 30
        union       |0        |10     |20       |30
        of_one       0         1       1         2
        of_other     0         0       1         2

    Nothing is sorted. The number of starts of ``one`` at or below a start of ``other``, plus the
    fresh starts of ``other`` before it, is its place in the union.
    """
    if len(one) < len(other):  # the few are searched among the many
        joint, of_other, of_one = _merge(other, one)
        return joint, of_one, of_other
    before = one.search(other)  # 1, 2, 3: at least 1, because one begins with 0
    fresh = ~one[before - 1].equals(other)  # only 20 is not in one
    position = before + np.cumsum(fresh) - 1  # 0, 2, 3: of other's starts in the union
    from_other = np.zeros(len(one) + int(fresh.sum()), bool)
    from_other[position] = True
    of_other = np.cumsum(from_other) - 1
    from_other[position[~fresh]] = False  # now only 20: a start of both is taken from one
    of_one = np.cumsum(~from_other) - 1
    selection = np.where(from_other, len(one) + of_other, of_one)
    return concat([one, other])[selection], of_one, of_other


def count_addresses(starts: Addresses, selection: Bools) -> int:
    """Return exactly how many addresses the selected intervals of a partition hold."""
    # Sum of ends less sum of starts: 10-19 and 30-39 are (20 + 40) - (10 + 30) = 20.
    ends = starts[np.flatnonzero(selection[:-1]) + 1]
    beyond = MAX[starts.family] + 1 if selection[-1] else 0
    return ends.total() + beyond - starts[selection].total()


def lasts(starts: Addresses, last: int | None = None) -> Addresses:
    """Return the last address of each interval of a partition, or of several in sequence.

    ``last`` is the last address of the partition; None: the family's. A partition begins at 0, and
    0 - 1 wraps to the last address of the family.
    """
    beyond = starts[:1]
    if last is not None:
        beyond = Addresses.of(starts.family, [last + 1 & MAX[starts.family]])
    return concat([starts[1:], beyond]).predecessor()


#: What space is counted in, by family, and the addresses of a unit.
UNITS = {4: "addresses", 6: "/64 networks"}
UNIT_ADDRESSES = {4: 1.0, 6: 2.0**64}


def sizes(starts: Addresses) -> F64:
    """Return the sizes of a partition's intervals: in ``UNITS``: addresses, or networks of /64.

    An interval smaller than a /64 is a fraction of one. IPv4 sizes and their sums are exact; IPv6
    sizes are rounded to the 16 digits of a float. An IPv6 partition has two intervals or more.
    """
    if starts.high is None:
        return np.diff(starts.low.astype(np.float64), append=float(MAX[4] + 1))
    # The end of the space, 2^128, wraps to 0 as the differences do.
    difference = concat([starts[1:], Addresses.of(6, [0])]).minus(starts)
    # In /64 networks: 2001:db8::/48 is 65536, a /128 is 2^-64.
    return np.asarray(difference.high, np.float64) + difference.low * 2.0**-64


def jump_table(
    starts: U32, searched: Callable[[], None] = lambda: None, bits: int | None = None
) -> U32:
    """Return, for each value of the leading bits, the interval of its first address.

    The last entry is the last interval, so an address of bucket b is in one of the intervals
    table[b] … table[b + 1]. Without ``bits``, a bucket has four to eight intervals on average:
    their starts usually share a cache line, and the table is small. ``searched`` is called after
    each part of the starts.
    """
    if bits is None:
        # 1,000,000 intervals: log2 is 19.9, so 17 bits: 131,072 buckets of 7.6 on average.
        bits = int(np.clip(int(np.log2(len(starts))) - 2, *fmt.JUMP_BITS))
    firsts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(32 - bits)
    numbers = np.full(len(firsts) + 1, len(starts) - 1, np.uint32)
    for begin in range(0, len(firsts), _BUCKETS):
        part = slice(begin, min(begin + _BUCKETS, len(firsts)))
        numbers[part] = np.searchsorted(starts, firsts[part].astype(np.uint32), side="right") - 1
        searched()
    return numbers


def sparse_index(highs: U64) -> U64:
    """Return the upper halves of every 64th start: few enough to stay in a processor's cache."""
    return highs[:: fmt.SPARSE_STRIDE]
