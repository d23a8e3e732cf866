"""The rows of one family in a source table, and the disjoint intervals that they decide.

Of a row only its range, its position and one number for each layer are kept. IPv6 ranges in
IPv4-mapped space are folded: the part inside becomes an IPv4 row with the specificity of the range
as stated, so narrower IPv4 rows decide.

The bounds of all ranges divide the space into elementary segments. If ranges are disjoint (what
most vendors deliver), each owns the segment that begins with it. Otherwise rows are ranked by
specificity, rank 0 first, and each segment gets the least rank of the ranges that cover it.

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

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.special import CARRIES_IPV4, ranges_of
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp, concat, empty
from geolookup.dataset.runs import Codes, factorize, run_starts
from geolookup_builder.columns import ROW, Partition
from geolookup_builder.layer_values import UNKNOWN

#: Sort keys of specificity, most significant first; the row with the least key decides.
Keys = tuple[NDArray[np.integer], ...]
Positions = NDArray[np.integer[Any]]
#: Joins the parts of a column.
Combine = Callable[[Sequence[NDArray[Any]]], NDArray[Any]]
#: IPv4-mapped space is folded into IPv4; NAT64 and 6to4 space is excluded.
FOLDED, *EXCLUDED = ranges_of(6, CARRIES_IPV4)
_NONE = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one family; both ends of a range are included."""

    first: Addresses
    last: Addresses
    position: Positions  # in the source: of equal ranges the later one decides
    numbers: dict[str, Codes] = field(default_factory=dict)
    keys: Keys | None = None  # None: specificity by the range itself

    def __len__(self) -> int:
        return len(self.first)

    def __getitem__(self, rows: slice | I64 | Bools) -> Rows:
        return self.with_columns(column[rows] for column in self.columns())

    @property
    def nbytes(self) -> int:
        """The bytes of all columns."""
        return sum(column.nbytes for column in self.columns())

    def columns(self) -> list[NDArray[Any]]:
        """Return all columns."""
        ends = *self.first.columns(), *self.last.columns()
        return [*ends, self.position, *self.numbers.values(), *(self.keys or ())]

    def with_columns(self, columns: Iterable[NDArray[Any]]) -> Rows:
        """Return rows of the same layers with other columns, in the order of ``columns``."""
        further, halves = iter(columns), len(self.first.columns())
        first, last = (Addresses(*islice(further, halves)) for _ in range(2))
        position, numbers = next(further), {layer: next(further) for layer in self.numbers}
        return Rows(first, last, position, numbers, tuple(further) or None)

    def in_order(self) -> Rows:
        """Return the rows by first address."""
        # Most files are sorted: nothing is copied.
        return self[self.first.order()] if (self.first[1:] < self.first[:-1]).any() else self


def none(family: int) -> Rows:
    """Return no rows."""
    return Rows(empty(family), empty(family), np.empty(0, np.uint32))


def combined(parts: Sequence[Rows], layers: Collection[str], combine: Combine) -> Rows:
    """Return the rows of all parts: all have keys if some have, and every layer."""
    has_keys = any(part.keys is not None for part in parts)
    alike = [
        replace(
            part,
            keys=part.keys or _mapped_keys(part) if has_keys else None,
            numbers={layer: _numbers(part, layer) for layer in layers},
        )
        for part in parts
    ]
    columns = zip(*(part.columns() for part in alike), strict=True)
    return alike[0].with_columns(combine(of_parts) for of_parts in columns)


def _numbers(rows: Rows, layer: str) -> Codes:
    """Return the numbers of a layer; a layer that a file lacks is unknown in its rows."""
    codes = rows.numbers.get(layer)
    return np.broadcast_to(np.int32(UNKNOWN), len(rows)) if codes is None else codes


def _stated_keys(first: Addresses, last: Addresses) -> Keys:
    """Return sort keys that put the smaller range first, of equal sizes the later start."""
    size = last.minus(first)
    if first.high is None or size.high is None:
        # The complement reverses the order of unsigned integers: later starts come first.
        return size.low, ~first.low
    return size.high, size.low, ~first.high, ~first.low


def _mapped_keys(rows: Rows) -> Keys:
    """Return the specificity of IPv4 rows on the scale of stated IPv6 ranges."""
    # 8.8.8.8 becomes ::ffff:8.8.8.8.
    high, prefix = np.zeros(len(rows), np.uint64), np.uint64(FOLDED[0])
    return _stated_keys(*(Addresses(ends.low | prefix, high) for ends in (rows.first, rows.last)))


def fold(rows: Rows) -> tuple[Rows, Rows]:
    """Return the IPv4 rows of IPv6 rows in IPv4-mapped space, and the rows not wholly inside."""
    begin, end = (Addresses.of(6, [bound]) for bound in FOLDED)
    is_outside = (rows.first < begin) | (end < rows.last)
    reaches = np.flatnonzero(~(rows.last < begin) & ~(end < rows.first))
    if not len(reaches):
        return none(4), rows
    wide = rows[reaches]
    # ::fffe:ffff:0 - ::ffff:8.8.8.8 becomes 0.0.0.0 - 8.8.8.8. It stays an IPv6 row too.
    lows = (clamp(ends, *FOLDED).low & np.uint64(0xFFFF_FFFF) for ends in (wide.first, wide.last))
    first, last = (Addresses(low.astype(np.uint32)) for low in lows)
    is_cut = is_outside[reaches].any()
    folded = replace(
        wide, first=first, last=last, keys=_stated_keys(wide.first, wide.last) if is_cut else None
    )
    return folded, rows[is_outside]


def flatten(rows: Rows, family: int) -> Partition:
    """Return the intervals of ``rows``; ROW is 1 + the index of the row that decides, 0 in a gap.

    The most specific row decides: the smaller range; of equally small ones
    the one that starts later; of equal ranges the later row.
    """
    is_bounded = ~rows.last.is_last()
    ends = rows.last[is_bounded].successor()
    # All bounds: where a range begins, and the address after its end.
    starts, index = _distinct(concat([Addresses.of(family, [0]), rows.first, ends]))
    begin = index[1 : 1 + len(rows)]
    end = np.full(len(rows), len(starts), np.int32)
    end[is_bounded] = index[1 + len(rows) :]
    by_begin = np.argsort(begin, kind="stable")
    if np.all(end[by_begin][:-1] <= begin[by_begin][1:]):  # disjoint, as in most files
        owner = np.zeros(len(starts), np.int64)
        owner[begin] = np.arange(1, len(rows) + 1)
        return Partition(starts, {ROW: owner})
    order = _specificity(rows)
    least = _least_rank(begin[order], end[order], len(starts))
    # _NONE, of a gap, takes the last entry: 0.
    owner = np.append(order + 1, 0)[np.minimum(least, len(order))]
    return Partition(starts, {ROW: owner}).joined()


def _distinct(bounds: Addresses) -> tuple[Addresses, Codes]:
    """Return the sorted distinct addresses and, for each address, its index among them."""
    order = bounds.order()
    sorted_bounds = bounds[order]
    new = run_starts(*sorted_bounds.columns())
    index = np.empty(len(bounds), np.int32)
    index[order] = np.cumsum(new, dtype=np.int32)
    index -= 1
    return sorted_bounds[new], index


def _specificity(rows: Rows) -> I64:
    """Return the row numbers, the most specific first."""
    keys = rows.keys or _stated_keys(rows.first, rows.last)
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


def _least_rank(begin: Codes, end: Codes, segments: int) -> NDArray[np.int32]:
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
        own = zip(rows.keys, _mapped_keys(rows), strict=True)
        rows = rows[np.logical_and.reduce([stated == key for stated, key in own])]
    first = rows.first[rows.first.order()]
    if not first[1:].equals(first[:-1]).any():
        return 0
    # The numbers of distinct addresses are one key each, of either family.
    _, distinct = factorize([_distinct(rows.first)[1], _distinct(rows.last)[1]])
    return len(rows) - len(distinct)
