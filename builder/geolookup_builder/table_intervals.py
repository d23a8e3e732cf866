"""The intervals of one source table, and the counts of its rows and addresses.

Each family is flattened (``flatten``). Then it loses the space that lookups never search: one in
6to4 or NAT64 space uses the IPv4 address that the address carries. ``gather`` has folded
IPv4-mapped ranges into IPv4 before. Special-purpose space is kept for private layers only:
own columns with ``private = true``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from geolookup.contract.special import CARRIES_IPV4, PRIVATE, Range, ranges_of
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp, cut_at
from geolookup_builder.build_report import SourceReport
from geolookup_builder.factorize import Codes
from geolookup_builder.flatten import Intervals, Ranges, flatten
from geolookup_builder.gather import EXCLUDED, GatheredRows
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.layers import LayerPartition, cut, hide, of_source


@dataclass(frozen=True, slots=True)
class ClippedRows:
    """The parts of one family's ranges that no lookup reaches: a mask of rows, and counts."""

    private: Bools
    addresses: int  # private ones
    excluded_rows: int  # in 6to4 and NAT64 space
    excluded_addresses: int


def _count_clipped(ranges: Ranges, family: int) -> ClippedRows:
    """Count clipped (private) addresses, and excluded (6to4, NAT64) rows and addresses.

    The caller counts the clipped rows, because a row that is partly folded has ranges of
    both families.
    """
    private, excluded = ranges_of(family, PRIVATE), EXCLUDED if family == 6 else ()
    in_private, in_excluded = _rows_inside(ranges, private), _rows_inside(ranges, excluded)
    return ClippedRows(
        in_private,
        _addresses_inside(ranges, private) if in_private.any() else 0,
        int(in_excluded.sum()),
        _addresses_inside(ranges, excluded) if in_excluded.any() else 0,
    )


def _rows_inside(ranges: Ranges, blocks: Sequence[Range]) -> Bools:
    """Mark the ranges with an address in a block; the blocks are not adjacent."""
    starts, within = cut_at(ranges.first.family, blocks)
    # Of two neighbours in the partition one is in a block: a range that leaves its interval has
    # an address in a block.
    begin, end = starts.search(ranges.first) - 1, starts.search(ranges.last) - 1
    inside: Bools = within[begin] | (begin != end)
    return inside


def _addresses_inside(ranges: Ranges, blocks: Sequence[Range]) -> int:
    total = 0
    for first, last in blocks:
        begin, end = (Addresses.of(ranges.first.family, [bound]) for bound in (first, last))
        overlaps = ~(ranges.last < begin) & ~(end < ranges.first)
        if overlaps.any():
            inner_first = clamp(ranges.first[overlaps], first, last)
            inner_last = clamp(ranges.last[overlaps], first, last)
            # Last less first, and one more address of each range.
            total += inner_last.minus(inner_first).total() + int(overlaps.sum())
    return total


@dataclass(frozen=True, slots=True)
class TableIntervals:
    """The intervals of one family in a table, and the counts of its rows."""

    intervals: Intervals  # owned by the row's position in the table; -1: a gap
    layers: LayerPartition
    counts: ClippedRows
    special_rows: I64  # positions of the rows with addresses in special-purpose space
    is_owner: Bools  # by position: whether the row owns an interval, hidden space included
    has_value: Bools  # by position: whether the row has a value


def intervals_of(
    rows: GatheredRows, family: int, size: int, private: Collection[str] = ()
) -> TableIntervals:
    """Flatten one family's rows of a table of ``size``; remove space that lookups never search.

    ``private`` are the layers that are known in special-purpose space too. Arrays are released as
    soon as nothing needs them: here a build takes the most memory.
    """
    counts, flat = _count_clipped(rows.ranges, family), flatten(rows.ranges, family)
    position, numbers = rows.position, rows.numbers
    del rows
    is_owner, has_value = np.zeros(size, bool), np.zeros(size, bool)
    is_owner[position[flat.owner[flat.owner >= 0]]] = True
    for of_layer in numbers.values():
        has_value[position[of_layer != UNKNOWN]] = True
    intervals, layers = _searched(flat, numbers, numbers.keys() & private)
    del flat
    # The owner -1 (a gap) takes the last entry, -1.
    owners = Intervals(intervals.starts, np.append(position, -1)[intervals.owner])
    return TableIntervals(owners, layers, counts, position[counts.private], is_owner, has_value)


def _searched(
    flat: Intervals, numbers: dict[str, Codes], private: Collection[str]
) -> tuple[Intervals, LayerPartition]:
    """Return the intervals without the space that lookups never search, and their numbers."""
    family = flat.starts.family
    if not private:
        intervals = hide(flat, ranges_of(family, PRIVATE, CARRIES_IPV4))
        return intervals, of_source(intervals, numbers)
    intervals, special = cut(
        hide(flat, ranges_of(family, CARRIES_IPV4)), ranges_of(family, PRIVATE)
    )
    public = Intervals(intervals.starts, intervals.owner.copy())
    for part in special:
        public.owner[part] = -1
    kept = {layer: codes for layer, codes in numbers.items() if layer in private}
    others = {layer: codes for layer, codes in numbers.items() if layer not in private}
    of_layers = of_source(intervals, kept).numbers | of_source(public, others).numbers
    return intervals, LayerPartition(intervals.starts, of_layers)


def count(
    families: Sequence[TableIntervals], report: SourceReport, private: Collection[str] = ()
) -> None:
    """Add the counts of a table's rows and addresses to the build report."""
    used, special, is_owner, has_value = (np.zeros(report.read, bool) for _ in range(4))
    addresses = 0
    for family in families:
        owners = family.intervals.owner
        used[owners[owners >= 0]] = True
        special[family.special_rows] = True
        is_owner |= family.is_owner
        has_value |= family.has_value
        addresses += family.counts.addresses
        report.rows_excluded += family.counts.excluded_rows
        report.addresses_excluded += family.counts.excluded_addresses
    report.used = int(used.sum())
    layers = families[0].layers.numbers.keys()
    report.private_layers = tuple(layer for layer in private if layer in layers)
    if report.private_layers:
        report.rows_private, report.addresses_private = int(special.sum()), addresses
    if len(layers) > len(report.private_layers) or not layers:
        report.rows_clipped, report.addresses_clipped = int(special.sum()), addresses
    report.has_value = bool((used & has_value).any())
    valid_rows = report.read - report.rejected.total()
    # Accepted rows that own nothing; duplicates among them have a count of their own.
    report.covered = max(0, valid_rows - int(is_owner.sum()) - report.duplicates)
