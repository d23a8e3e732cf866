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
from numpy.typing import NDArray

from geolookup.contract.special import CARRIES_IPV4, PRIVATE, Range, ranges_of
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp, cut_at
from geolookup_builder.bands import Band
from geolookup_builder.build_report import SourceReport
from geolookup_builder.flatten import Intervals, Positions, Ranges, flatten
from geolookup_builder.folding import EXCLUDED, count_duplicates
from geolookup_builder.layer_values import UNKNOWN
from geolookup_builder.layers import LayerPartition, cut, hide, of_source
from geolookup_builder.row_runs import Rows

#: Marks of a row, a bit each: it owns an interval, hidden space included; it owns one
#: that lookups search; it has an address in special-purpose space; it has a value.
_OWNER, _USED, _SPECIAL, _VALUE = (np.uint8(1 << bit) for bit in range(4))
_CHUNK = 1 << 20
#: The layer of deciding rows, beside those of the schema.
ROW = ""


@dataclass(slots=True)
class TableCounts:
    """The counts of one family's rows in a table, added up band by band."""

    marks: NDArray[np.uint8]  # by position in the table
    duplicates: int = 0  # rows with the range of a later row
    addresses: int = 0  # in special-purpose space
    excluded_rows: int = 0  # in 6to4 and NAT64 space
    excluded_addresses: int = 0

    @classmethod
    def of(cls, size: int) -> TableCounts:
        """Return the counts of a table of ``size`` rows, all 0."""
        return cls(np.zeros(size, np.uint8))

    def mark(self, position: Positions, intervals: Intervals, mark: np.uint8) -> None:
        """Mark the rows that own intervals, given the position of each row."""
        self.marks[position[intervals.owner[intervals.owner >= 0]]] |= mark

    def add_rows(self, rows: Rows) -> None:
        """Count duplicates, clipped (private) addresses, and excluded rows and addresses.

        ``count`` counts the clipped rows, because a row that is partly folded has ranges of both
        families.
        """
        ranges = rows.ranges
        family = ranges.first.family
        private, excluded = ranges_of(family, PRIVATE), EXCLUDED if family == 6 else ()
        in_private, in_excluded = _rows_inside(ranges, private), _rows_inside(ranges, excluded)
        self.duplicates += count_duplicates(ranges)
        self.marks[ranges.position[in_private]] |= _SPECIAL
        if in_private.any():
            self.addresses += _addresses_inside(ranges, private)
        if in_excluded.any():
            self.excluded_rows += int(in_excluded.sum())
            self.excluded_addresses += _addresses_inside(ranges, excluded)
        for codes in rows.numbers.values():
            self.marks[ranges.position[codes != UNKNOWN]] |= _VALUE


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


def layers_of(
    rows: Rows,
    band: Band,
    counts: TableCounts,
    private: Collection[str] = (),
    *,
    with_rows: bool = False,
) -> LayerPartition:
    """Flatten the rows of a band, and count them; remove space that lookups never search.

    ``private`` are the layers that are known in special-purpose space too. If asked for, ROW is a
    layer: 1 + the position of the deciding row. Arrays are released as soon as nothing needs them:
    here a build takes the most memory.
    """
    # Rows that begin before the band are counted there.
    counts.add_rows(rows[np.flatnonzero(band.begins(rows.ranges.first))] if band.begin else rows)
    family, position, numbers = band.family, rows.ranges.position, rows.numbers
    intervals = hide(flatten(rows.ranges, family), band.outside)
    del rows
    counts.mark(position, intervals, _OWNER)
    intervals = hide(intervals, ranges_of(family, CARRIES_IPV4))
    intervals, special = cut(intervals, ranges_of(family, PRIVATE))
    in_special = {layer: codes for layer, codes in numbers.items() if layer in private}
    public = {layer: codes for layer, codes in numbers.items() if layer not in private}
    if with_rows:
        (in_special or public)[ROW] = position.astype(np.int64) + 1  # type: ignore[assignment]
    layers = of_source(intervals, in_special).numbers
    if in_special:
        counts.mark(position, intervals, _USED)
    for part in special:
        intervals.owner[part] = -1
    counts.mark(position, intervals, _USED)
    layers |= of_source(intervals, public).numbers
    return band.crop(LayerPartition(intervals.starts, layers))


def count(
    families: Sequence[TableCounts],
    layers: Collection[str],
    report: SourceReport,
    private: Collection[str] = (),
) -> None:
    """Add the counts of a table's rows and addresses to the build report."""
    rows = _rows_by_marks([family.marks for family in families])
    addresses = sum(family.addresses for family in families)
    report.duplicates = sum(family.duplicates for family in families)
    report.rows_excluded += sum(family.excluded_rows for family in families)
    report.addresses_excluded += sum(family.excluded_addresses for family in families)
    kinds = np.arange(len(rows))
    report.used, special, owners = (
        int(rows[(kinds & mark) > 0].sum()) for mark in (_USED, _SPECIAL, _OWNER)
    )
    report.private_layers = tuple(layer for layer in private if layer in layers)
    if report.private_layers:
        report.rows_private, report.addresses_private = special, addresses
    if len(layers) > len(report.private_layers) or not layers:
        report.rows_clipped, report.addresses_clipped = special, addresses
    used_value = _USED | _VALUE
    report.has_value = bool(rows[(kinds & used_value) == used_value].any())
    valid_rows = report.read - report.rejected.total()
    # Accepted rows that own nothing; duplicates among them have a count of their own.
    report.covered = max(0, valid_rows - owners - report.duplicates)


def _rows_by_marks(families: Sequence[NDArray[np.uint8]]) -> I64:
    """Return how many rows have each combination of marks, of either family."""
    rows = np.zeros(1 << 4, np.int64)
    for begin in range(0, len(families[0]), _CHUNK):
        marks = np.bitwise_or.reduce([family[begin : begin + _CHUNK] for family in families])
        rows += np.bincount(marks, minlength=len(rows))
    return rows
