"""Ranges that nest and overlap, to disjoint intervals with the row that decides each.

Strategy: ranges that are disjoint already (what most vendors deliver) are
only put in order and their gaps named. Otherwise all bounds cut the space
into elementary segments, and each range claims its segments with its rank of
specificity: as two power-of-two runs per range, pushed down level by level to
the single segment, the least rank winning. That is O(n log n) for any overlap
and has no loop over rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Addresses, Bools, concat

#: Sort keys of specificity, most significant first; the least row wins.
Keys = tuple[NDArray[np.integer], ...]
_NOBODY = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of one family, both ends included, in row order."""

    first: Addresses
    last: Addresses
    keys: Keys | None = None  # None: specificity by the range itself

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True)
class Intervals:
    """A gap-free partition of a family: starts (the first is 0) and an owner each, -1 for none."""

    starts: Addresses
    owner: I64


def flatten(ranges: Ranges, family: int) -> Intervals:
    """Return the intervals of ``ranges``, owned by the index of the row that decides.

    The most specific row decides: the smaller range; of equally small ones
    the one that starts later; of equal ranges the later row.
    """
    if not len(ranges):
        return Intervals(Addresses.of(family, [0]), np.array([-1]))
    order = ranges.first.order()
    first, last = ranges.first[order], ranges.last[order]
    if np.all(last[:-1] < first[1:]):
        return _name_gaps(first, last, order)
    return coalesce(_flatten_overlaps(ranges, family))


def _name_gaps(first: Addresses, last: Addresses, owner: I64) -> Intervals:
    """Interleave ordered, disjoint ranges with the gaps between them."""
    family, size = first.family, len(first)
    before = concat([Addresses.of(family, [0]), last[:-1].successor()])
    gap = ~before.equals(first)
    place = np.arange(size) + np.cumsum(gap)
    open_end = not last.is_last()[-1]
    owners = np.full(int(place[-1]) + 1 + open_end, -1)
    owners[place] = owner
    source = np.empty(len(owners), np.int64)
    source[place] = np.arange(size)
    source[place[gap] - 1] = np.flatnonzero(gap) + size
    if open_end:
        source[-1] = 2 * size
    tail = [last[-1:].successor()] if open_end else []
    return Intervals(concat([first, before, *tail])[source], owners)


def _flatten_overlaps(ranges: Ranges, family: int) -> Intervals:
    bounded = ~ranges.last.is_last()
    ends = ranges.last[bounded].successor()
    starts, index = _distinct(concat([Addresses.of(family, [0]), ranges.first, ends]))
    begin = index[1 : 1 + len(ranges)]
    end = np.full(len(ranges), len(starts))
    end[bounded] = index[1 + len(ranges) :]
    order = _specificity(ranges)
    winner = _least_rank(begin[order], end[order], len(starts))
    owner = np.where(winner == _NOBODY, -1, order[np.minimum(winner, len(order) - 1)])
    return Intervals(starts, owner)


def _distinct(bounds: Addresses) -> tuple[Addresses, I64]:
    """Return the sorted distinct addresses and, for each address, its index among them."""
    order = bounds.order()
    ordered = bounds[order]
    new = np.concatenate([[True], ~ordered[1:].equals(ordered[:-1])])
    index = np.empty(len(bounds), np.int64)
    index[order] = np.cumsum(new) - 1
    return ordered[new], index


def _specificity(ranges: Ranges) -> I64:
    """Return the row numbers, the most specific first."""
    keys = ranges.keys or stated_keys(ranges.first, ranges.last)
    later_first = -np.arange(len(ranges))
    return np.lexsort((later_first, *reversed(keys)))


def stated_keys(first: Addresses, last: Addresses) -> Keys:
    """Return the keys by which the smaller, then the later starting range comes first."""
    size = last.minus(first)
    if first.high is None or size.high is None:
        return size.low, ~first.low
    return size.high, size.low, ~first.high, ~first.low


def _least_rank(begin: I64, end: I64, segments: int) -> NDArray[np.int32]:
    """Return the least index of a range over each segment, or _NOBODY.

    Range i covers segments begin[i] … end[i] - 1. On level k a cell stands for
    2^k segments; every range is two cells of its own level that may overlap.
    """
    length = end - begin
    level = np.frexp(length.astype(np.float64))[1] - 1  # exact below 2^53
    rank = np.arange(len(begin), dtype=np.int32)
    cells = np.full(segments, _NOBODY, np.int32)
    for k in range(int(level.max()), -1, -1):
        here = np.flatnonzero(level == k)
        np.minimum.at(cells, begin[here], rank[here])
        np.minimum.at(cells, end[here] - (1 << k), rank[here])
        if k:
            half = 1 << (k - 1)
            lower = cells.copy()
            np.minimum(lower[half:], cells[:-half], out=lower[half:])
            cells = lower
    return cells


def duplicates(ranges: Ranges) -> int:
    """Return how many ranges are equal to a later one."""
    order = ranges.first.order()
    first = ranges.first[order]
    same_first = first[1:].equals(first[:-1])
    if not same_first.any():
        return 0
    both = _distinct(ranges.first)[1], _distinct(ranges.last)[1]
    order = np.lexsort(both)
    return int((~changes(both[0][order], both[1][order])).sum())


def coalesce(intervals: Intervals) -> Intervals:
    """Join neighbours that have one owner."""
    keep = changes(intervals.owner)
    return Intervals(intervals.starts[keep], intervals.owner[keep])


def changes(*columns: NDArray[np.integer]) -> Bools:
    """Mark the rows that differ from the row before in any column; the first row is marked."""
    keep = np.zeros(len(columns[0]), bool)
    keep[0] = True
    for column in columns:
        keep[1:] |= column[1:] != column[:-1]
    return keep
