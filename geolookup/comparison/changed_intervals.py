"""The ranges of one family whose answers differ, as columns of numbers.

Strategy: ``overlay.joint`` has the joint intervals. A change is found once for each distinct pair
of rows, then marked in the intervals. Only marked intervals are overlaid with the sources, and
neighbours whose columns are all equal are joined: rows of tables are compared by their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.changes import KINDS, UNCHANGED, changes_of, differ, kinds, linked
from geolookup.comparison.dataset_pair import ComparedValues, DatasetPair
from geolookup.comparison.measures import F64, Pairs, distinct
from geolookup.comparison.overlay import Joint, Rows, Side, joint
from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.contract.special import Range
from geolookup.dataset.intervals import I64, Addresses, Bools, concat, lasts, overlay

#: The kinds of change of a row, by number; the last is of own columns only.
ROW_KINDS = (*KINDS[:UNCHANGED], "own column value")
#: An IPv6 row ends at each multiple of this: its number of addresses has 38 digits at most.
_QUARTER = 1 << 126
#: The intervals of a dataset that are overlaid at a time: memory does not grow with it.
WINDOW = 1 << 18
#: Of kilometres: metres.
_DECIMALS = 3


@dataclass(frozen=True, slots=True)
class TablePair:
    """The rows of one table in both datasets, by range; 0 is unknown."""

    old: Rows
    new: Rows

    def take(self, rows: slice | NDArray[Any]) -> TablePair:
        """Return some of them, by number, by mask or by slice."""
        return TablePair(self.old[rows], self.new[rows])

    def followed_by(self, other: TablePair) -> TablePair:
        """Return these, then others."""
        pairs = (self.old, other.old), (self.new, other.new)
        return TablePair(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class ChangedRanges:
    """n ranges of one family that changed, in address order and disjoint.

    ``tables`` are by table that intervals refer to, ``sources`` by layer: numbers of the names in
    ``DatasetPair.source_names``, 0 for none. ``kinds`` are positions of ``ROW_KINDS``.
    """

    first: Addresses
    last: Addresses
    kinds: NDArray[np.uint8]
    kilometres: F64  # NaN: unknown
    tables: Mapping[str, TablePair]
    sources: Mapping[str, TablePair]

    def __len__(self) -> int:
        return len(self.kinds)

    def take(self, rows: slice | NDArray[Any]) -> ChangedRanges:
        """Return some of the ranges, by number, by mask or by slice."""
        return ChangedRanges(
            self.first[rows],
            self.last[rows],
            self.kinds[rows],
            self.kilometres[rows],
            {table: pair.take(rows) for table, pair in self.tables.items()},
            {layer: pair.take(rows) for layer, pair in self.sources.items()},
        )

    def followed_by(self, other: ChangedRanges) -> ChangedRanges:
        """Return these ranges, then others of the same family."""
        return ChangedRanges(
            concat([self.first, other.first]),
            concat([self.last, other.last]),
            np.concatenate([self.kinds, other.kinds]),
            np.concatenate([self.kilometres, other.kilometres]),
            {table: pair.followed_by(other.tables[table]) for table, pair in self.tables.items()},
            {layer: pair.followed_by(other.sources[layer]) for layer, pair in self.sources.items()},
        )


def changed_ranges(compared: DatasetPair, family: int, limits: Range) -> Iterator[ChangedRanges]:
    """Yield the changed ranges of a family in limits, in batches.

    A step raises DatasetError for a damaged dataset.
    """
    pending: ChangedRanges | None = None
    for window in _windows(compared, family, limits):
        sides = Side(compared.old, family, window), Side(compared.new, family, window)
        marked = _marked(compared, joint(*sides))
        if not marked.marks.any():
            continue
        ranges = _join(compared.values, _split_by_source(compared, sides, marked))
        if pending is not None:
            # The last range of the window before may continue: the two may become one.
            both = _join(compared.values, pending.followed_by(ranges.take(slice(0, 1))))
            ranges = both.followed_by(ranges.take(slice(1, None)))
        yield ranges.take(slice(0, -1))
        pending = ranges.take(slice(-1, None))
    if pending is not None:
        yield pending


def _windows(compared: DatasetPair, family: int, limits: Range) -> Iterator[Range]:
    """Yield the parts of the limits in which each dataset has a bounded number of intervals."""
    first, last = limits
    bounds = {
        starts[interval]
        for starts in (compared.old.starts(family), compared.new.starts(family))
        for interval in range(WINDOW, len(starts), WINDOW)
    }
    # Of a damaged dataset the starts may be in any order; ``Side`` finds that.
    for bound in sorted(bound for bound in bounds if first < bound <= last):
        yield first, bound - 1
        first = bound
    yield first, last


class _MarkedIntervals(NamedTuple):
    """The joint intervals of one family that changed: ``marks`` by joint interval.

    The other members have an item for each mark that is set.
    """

    starts: Addresses
    marks: Bools
    kinds: NDArray[np.uint8]
    kilometres: F64
    tables: Mapping[str, TablePair]


def _marked(compared: DatasetPair, whole: Joint) -> _MarkedIntervals:
    """Find the joint intervals whose values differ, and that meet the conditions."""
    values, answers = compared.values, whole.answers
    changes = changes_of(values.contract, answers)
    marks = np.zeros(len(whole.starts), bool)
    of_location = _differ(values, LOCATION, changes.locations)[changes.location_of]
    marks[whole.reached] = (
        of_location | _differ(values, NETWORK, changes.networks)[changes.network_of]
    )
    if whole.own is not None:
        own = distinct([whole.own.old, whole.own.new], whole.own.weight)
        pairs = Pairs(own.columns[0], own.columns[1], own.weight)
        marks[whole.own.reached] |= _differ(values, OWN, pairs)[own.of_row]
    tables = _tables(whole, np.flatnonzero(marks))
    meets = compared.meets({table: (pair.old, pair.new) for table, pair in tables.items()})
    if not meets.all():
        marks[marks] = meets
        tables = {table: pair.take(meets) for table, pair in tables.items()}
    # Intervals 3 5 9 are reached, 5 and 7 marked: the second one at 5, none at 7.
    is_reached, at = _positions(whole.reached, np.flatnonzero(marks))
    kind = np.full(len(at), UNCHANGED, np.uint8)
    kind[is_reached] = kinds(values.contract, changes)[at[is_reached]]
    far = np.full(len(at), np.nan)
    if compared.has_coordinates:
        moved = changes.moves.distances[changes.location_of[at[is_reached]]]
        far[is_reached] = np.round(moved, _DECIMALS)
    return _MarkedIntervals(whole.starts, marks, kind, far, tables)


def _differ(values: ComparedValues, table: str, pairs: Pairs) -> Bools:
    """Mark the pairs of rows of a table with different values of a compared field."""
    marks: Bools = np.zeros(len(pairs.weight), bool)
    for pair, link in values.by_table[table]:
        marks |= differ([pair], linked(pairs, link) if link else pairs)
    return marks


def _tables(whole: Joint, intervals: I64) -> dict[str, TablePair]:
    """Return the rows of both datasets in some joint intervals, by table."""
    answers, own = whole.answers, whole.own
    at = _positions(whole.reached, intervals)
    tables = {
        LOCATION: _rows(at, answers.old_location, answers.new_location),
        NETWORK: _rows(at, answers.old_network, answers.new_network),
    }
    if own is not None:
        tables[OWN] = _rows(_positions(own.reached, intervals), own.old, own.new)
    return tables


def _positions(sorted_numbers: I64, numbers: I64) -> tuple[Bools, I64]:
    """Return for n numbers whether the sorted ones have them, and at which position."""
    at = np.searchsorted(sorted_numbers, numbers)
    is_there = at < len(sorted_numbers)
    is_there[is_there] = sorted_numbers[at[is_there]] == numbers[is_there]
    return is_there, at


def _rows(positions: tuple[Bools, I64], old: Rows, new: Rows) -> TablePair:
    """Return the rows at positions; 0 (unknown) in intervals that have no position."""
    is_there, at = positions
    pair = TablePair(np.zeros(len(at), np.uint32), np.zeros(len(at), np.uint32))
    pair.old[is_there], pair.new[is_there] = old[at[is_there]], new[at[is_there]]
    return pair


def _split_by_source(
    compared: DatasetPair, sides: tuple[Side, Side], marked: _MarkedIntervals
) -> ChangedRanges:
    """Return the marked intervals, split where a source begins to decide."""
    marks, limits = marked.marks, sides[0].limits
    # Marks 0 1 1 0 0 1: bounds at 0, 1, 2, 3 and 5; from 3 to 4 nothing changed.
    is_bound = marks.copy()
    is_bound[1:] |= marks[:-1]
    is_bound[0] = True
    bounds = np.flatnonzero(is_bound)
    partitions = [
        _quarters(marked.starts.family, limits),
        marked.starts[bounds],
        *(side.decided for side in sides),
    ]
    starts, holding = overlay(partitions)
    interval = bounds[holding[1]]
    at = np.flatnonzero(marks[interval])
    number = (np.cumsum(marks) - 1)[interval[at]]
    decided = [holding[2 + side][at] for side in (0, 1)]
    return ChangedRanges(
        starts[at],
        _lasts(starts, limits[1])[at],
        marked.kinds[number],
        marked.kilometres[number],
        {table: pair.take(number) for table, pair in marked.tables.items()},
        {
            layer: TablePair(
                *(
                    compared.source_numbers[n][side.sources_of(layer)[decided[n]]]
                    for n, side in enumerate(sides)
                )
            )
            for layer in compared.layers
        },
    )


def _quarters(family: int, limits: Range) -> Addresses:
    """Return the partition of an IPv6 space in limits at multiples of ``_QUARTER``."""
    first, last = limits
    begins = range(first // _QUARTER * _QUARTER + _QUARTER, last + 1, _QUARTER)
    return Addresses.of(family, [first, *begins])


def _lasts(starts: Addresses, last: int) -> Addresses:
    """Return the last address of each interval of a partition that ends at an address."""
    ends = lasts(starts)
    end = Addresses.of(starts.family, [last])
    ends.low[-1] = end.low[0]
    if ends.high is not None and end.high is not None:
        ends.high[-1] = end.high[0]
    return ends


def _join(values: ComparedValues, ranges: ChangedRanges) -> ChangedRanges:
    """Return the ranges with neighbours joined if all their columns are equal."""
    if not len(ranges):
        return ranges
    groups = [_groups(values, table, pair) for table, pair in ranges.tables.items()]
    sources = [side for pair in ranges.sources.values() for side in (pair.old, pair.new)]
    # NaN as -1: it equals itself.
    columns: list[NDArray[Any]] = [
        ranges.kinds,
        np.nan_to_num(ranges.kilometres, nan=-1.0),
        *groups,
        *sources,
    ]
    continues = ranges.first[1:].equals(ranges.last[:-1].successor())
    for column in columns:
        continues &= column[1:] == column[:-1]
    quarter = ranges.first.halves()[1] >> np.uint64(62)
    continues &= quarter[1:] == quarter[:-1]
    begins = np.flatnonzero(np.append(True, ~continues))
    # Ranges that begin at 0 and 3 of five: they end at 2 and 4.
    ends = np.append(begins[1:], len(ranges)) - 1
    return replace(ranges.take(begins), last=ranges.last[ends])


def _groups(values: ComparedValues, table: str, rows: TablePair) -> NDArray[np.int32]:
    """Return numbers that are equal if the compared fields of a table are, before and after."""
    rows_of = distinct([rows.old, rows.new], np.ones(len(rows.old)))
    pairs = Pairs(rows_of.columns[0], rows_of.columns[1], rows_of.weight)
    columns = []
    for pair, link in values.by_table[table]:
        of = linked(pairs, link) if link else pairs
        columns += [pair.old[of.old] + 1, pair.new[of.new] + 1]
    return distinct(columns, rows_of.weight).of_row[rows_of.of_row]
