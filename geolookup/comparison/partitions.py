"""The space of one address family, cut by several partitions at once.

Strategy: every partition is a sorted column of starts without gaps. Two of
them are merged by counting, for each start of the one, how many of the other
lie before it; that count is its place in the merged column, so nothing is sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import BITS
from geolookup.dataset.address_columns import count_up_to

_LOW = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Starts:
    """First addresses of intervals, in order, from 0; ``highs`` is None for IPv4."""

    highs: NDArray[np.uint64] | None
    lows: NDArray[Any]  # uint32 for IPv4, else uint64

    def __len__(self) -> int:
        return len(self.lows)

    def chosen(self, rows: NDArray[Any]) -> Starts:
        """Return some of them, by number or by mask."""
        return Starts(None if self.highs is None else self.highs[rows], self.lows[rows])

    def ascending(self) -> bool:
        """Say whether they begin at 0 and each is greater than the one before."""
        if not len(self) or self.lows[0] or (self.highs is not None and self.highs[0]):
            return False
        later = self.lows[1:] > self.lows[:-1]
        if self.highs is not None:
            above = self.highs[1:] > self.highs[:-1]
            later = above | (self.highs[1:] == self.highs[:-1]) & later
        return bool(later.all())


def starts_of(family: int, numbers: Iterable[int]) -> Starts:
    """Return starts that are given as integers."""
    listed = list(numbers)
    lows = np.array([number & _LOW for number in listed], np.uint32 if family == 4 else np.uint64)
    highs = np.array([number >> 64 for number in listed], np.uint64) if family == 6 else None
    return Starts(highs, lows)


def overlaid(partitions: Sequence[Starts]) -> tuple[Starts, list[NDArray[np.int64]]]:
    """Return the joint intervals, and by partition which of its intervals holds each of them."""
    joint = partitions[0]
    holding = [np.arange(len(joint))]
    for further in partitions[1:]:
        joint, in_joint, in_further = _merged(joint, further)
        holding = [*(each[in_joint] for each in holding), in_further]
    return joint, holding


def _merged(one: Starts, other: Starts) -> tuple[Starts, NDArray[np.int64], NDArray[np.int64]]:
    passed = count_up_to(one.highs, one.lows, other.highs, other.lows)
    is_other = np.zeros(len(one) + len(other), bool)
    is_other[passed + np.arange(len(other))] = True
    in_other = np.cumsum(is_other) - 1
    in_one = np.arange(len(is_other)) - in_other - 1

    def place(of_one: NDArray[Any], of_other: NDArray[Any]) -> NDArray[Any]:
        placed: NDArray[Any] = np.where(is_other, of_other[in_other], of_one[in_one])
        return placed

    highs = None
    if one.highs is not None and other.highs is not None:
        highs = place(one.highs, other.highs)
    merged = Starts(highs, place(one.lows, other.lows))
    last = _last_of_equal(merged)
    return merged.chosen(last), in_one[last], in_other[last]


def _last_of_equal(starts: Starts) -> NDArray[np.bool_]:
    """Return which starts differ from the one behind them: the others hold no address."""
    differs = np.append(starts.lows[1:] != starts.lows[:-1], True)
    if starts.highs is not None:
        differs[:-1] |= starts.highs[1:] != starts.highs[:-1]
    return differs


def sizes(starts: Starts) -> NDArray[np.float64]:
    """Return the sizes of two intervals or more: in addresses, for IPv6 in networks of /64.

    An interval smaller than a /64 is a fraction of one. IPv4 sizes and their sums are exact;
    those of IPv6 are rounded as floats are, to 16 digits.
    """
    if starts.highs is None:
        return np.diff(starts.lows.astype(np.float64), append=float(1 << BITS[4]))
    # The end of the space is 2 ** 128, which wraps to 0 as the differences do.
    next_highs, next_lows = (np.append(half[1:], half[:1]) for half in (starts.highs, starts.lows))
    borrow = next_lows < starts.lows
    highs: NDArray[np.uint64] = next_highs - starts.highs - borrow.astype(np.uint64)
    lows: NDArray[np.uint64] = next_lows - starts.lows
    return highs.astype(np.float64) + lows.astype(np.float64) * 2.0**-64
