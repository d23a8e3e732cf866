"""Converts nested and overlapping ranges to disjoint intervals, each with its deciding row.

Disjoint ranges (what most vendors deliver) are sorted, and the gaps between them become
intervals without an owner. Otherwise the bounds of all ranges divide the space into
elementary segments. Rows are ranked by specificity, rank 0 first, and each segment gets
the least rank of the ranges that cover it.

Example: four rows, already in order of rank, and five segments between their bounds:

    segment          0    1    2    3    4
    rank 0                     x                one segment
    rank 1                x    x                two
    rank 2           x    x    x                three
    rank 3                x    x    x    x      four
    least rank       2    1    0    3    3

The least rank of all segments is computed with a sparse table in reverse. Normally a
sparse table answers range minimum queries (Bender and Farach-Colton, "The LCA Problem
Revisited", 2000): entry i of level k holds the minimum of the 2^k elements from i on, and
any range is covered by two entries of one level; they may overlap. Here the ranges are
given and the elements are wanted: every range writes its rank into its two entries of
level k = floor(log2(length)), where the least rank stays. Then each level is pushed down
to the next: entry i of level k covers the entries i and i + 2^(k - 1) of level k - 1.
Level 0 holds the result. Rank 2 above (three segments from 0 on) writes into the entries
0 and 1 of level 1, and from there reaches the segments 0, 1 and 1, 2.

This takes O(n log n) time and O(n) memory for any overlap, without a Python loop over rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Addresses, concat
from geolookup.dataset.runs import factorize, run_starts
from geolookup_builder.columns import ROW, Partition
from geolookup_builder.rows import Rows, mapped_keys, stated_keys

_NONE = np.iinfo(np.int32).max


def flatten(rows: Rows, family: int) -> Partition:
    """Return the intervals of ``rows``; ROW is 1 + the index of the row that decides, 0 in a gap.

    The most specific row decides: the smaller range; of equally small ones
    the one that starts later; of equal ranges the later row.
    """
    if not len(rows):
        return Partition(Addresses.of(family, [0]), {ROW: np.zeros(1, np.int64)})
    order = rows.first.order()
    first, last = rows.first[order], rows.last[order]
    if np.all(last[:-1] < first[1:]):  # most files
        return _with_gaps(first, last, order)
    return _flatten_overlaps(rows, family).joined()


def _with_gaps(first: Addresses, last: Addresses, owner: I64) -> Partition:
    """Interleave ordered, disjoint ranges with the gaps between them."""
    # ranges   10-19 20-29 40-49
    # bounds   0  10  20  20  30  40  50      the second 20 begins a range, the first an empty gap
    # owners   0   1   0   2   0   3   0
    halves = []
    for begins, ends in zip(first.columns(), last.successor().columns(), strict=True):
        halves.append(np.zeros(2 * len(first) + 1, begins.dtype))
        halves[-1][1::2], halves[-1][2::2] = begins, ends
    owners = np.zeros(2 * len(first) + 1, np.int64)
    owners[1::2] = owner + 1
    # The successor of the family's last address wraps: nothing is after it.
    size = len(owners) - int(last.is_last()[-1])
    bounds, owners = Addresses(*halves)[:size], owners[:size]
    keep = np.append(~bounds[:-1].equals(bounds[1:]), True)
    return Partition(bounds[keep], {ROW: owners[keep]})


def _flatten_overlaps(rows: Rows, family: int) -> Partition:
    is_bounded = ~rows.last.is_last()
    ends = rows.last[is_bounded].successor()
    # All bounds: where a range begins, and the address after its end.
    starts, index = _distinct(concat([Addresses.of(family, [0]), rows.first, ends]))
    begin = index[1 : 1 + len(rows)]
    end = np.full(len(rows), len(starts))
    end[is_bounded] = index[1 + len(rows) :]
    order = _specificity(rows)
    least = _least_rank(begin[order], end[order], len(starts))
    # _NONE, of a gap, takes the last entry: 0.
    return Partition(starts, {ROW: np.append(order + 1, 0)[np.minimum(least, len(order))]})


def _distinct(bounds: Addresses) -> tuple[Addresses, I64]:
    """Return the sorted distinct addresses and, for each address, its index among them."""
    order = bounds.order()
    sorted_bounds = bounds[order]
    new = run_starts(*sorted_bounds.columns())
    index = np.empty(len(bounds), np.int64)
    index[order] = np.cumsum(new) - 1
    return sorted_bounds[new], index


def _specificity(rows: Rows) -> I64:
    """Return the row numbers, the most specific first."""
    keys = rows.keys or stated_keys(rows.first, rows.last)
    # ``lexsort`` takes the most significant key last; the complement puts later rows first.
    return np.lexsort((~rows.position, *reversed(keys)))


def may_decide_beyond(rows: Rows) -> I64:
    """Return, ascending, the ranges that may decide an address after one that all cover.

    All of 0-99, 8-63 and 9-50 may at 40: 9-50 decides up to 50, then 8-63, then 0-99. But of 0-99,
    30-63 and 9-50 the last one may not: 30-63 is smaller, and ends later.
    """
    order = _specificity(rows)
    ends = _distinct(rows.last)[1][order]
    # A more specific range that ends later decides wherever this one could.
    further = np.append(True, ends[1:] > np.maximum.accumulate(ends)[:-1])
    return np.sort(order[further])


def _least_rank(begin: I64, end: I64, segments: int) -> NDArray[np.int32]:
    """Return the least index of a range that covers each segment, or _NONE.

    Range i covers the segments begin[i] … end[i] - 1. Entry j of level k covers the segments
    j … j + 2^k - 1; the docstring of this module explains the algorithm.
    """
    length = end - begin
    # 5 is 0.625 * 2^3, so its level is 2.
    level = np.frexp(length.astype(np.float64))[1] - 1  # exact below 2^53
    rank = np.arange(len(begin), dtype=np.int32)
    least = np.full(segments, _NONE, np.int32)
    for k in range(int(level.max()), -1, -1):
        here = np.flatnonzero(level == k)
        np.minimum.at(least, begin[here], rank[here])
        np.minimum.at(least, end[here] - (1 << k), rank[here])
        if k:
            half = 1 << (k - 1)
            lower = least.copy()
            # Entry i + half of the lower level: the minimum of itself and of entry i above.
            np.minimum(lower[half:], least[:-half], out=lower[half:])
            least = lower
    return least


def duplicates(rows: Rows) -> int:
    """Return the number of rows with the range of a later one; a folded part counts in IPv6."""
    if rows.keys is not None:
        own = zip(rows.keys, mapped_keys(rows), strict=True)
        rows = rows[np.logical_and.reduce([stated == key for stated, key in own])]
    first = rows.first[rows.first.order()]
    if not first[1:].equals(first[:-1]).any():
        return 0
    # The numbers of distinct addresses are one key each, of either family.
    _, distinct = factorize([_distinct(rows.first)[1], _distinct(rows.last)[1]])
    return len(rows) - len(distinct)
