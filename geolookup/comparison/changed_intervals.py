"""The ranges of one family whose answers differ, as columns of numbers.

Strategy: the datasets are overlaid in windows, so memory does not grow with them. The rows of each
table have numbers that are equal if the compared values are. A joint interval changed if the
numbers of its two rows differ in any table. Neighbours whose columns are all equal are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from geolookup.comparison.changes import KINDS, UNCHANGED, changes_of, kinds
from geolookup.comparison.dataset_pair import DatasetPair
from geolookup.comparison.joint_intervals import Answers, JointIntervals, Side
from geolookup.comparison.values import Pair
from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.contract.special import Range
from geolookup.dataset.intervals import I64, Addresses, Bools, lasts
from geolookup.dataset.runs import Codes
from geolookup.prefixes.spans import Spans, join

#: The kinds of change of a row, by number; the last is of own columns only.
ROW_KINDS = (*KINDS[:UNCHANGED], "own column value")
#: The number of metres of an unknown distance.
UNKNOWN = -1
#: An IPv6 row ends at each multiple of this: its number of addresses has 38 digits at most.
_QUARTER = 1 << 126
#: The intervals of a dataset that are overlaid at a time.
WINDOW = 1 << 18


def changed_spans(compared: DatasetPair, family: int, limits: Range) -> Iterator[Spans]:
    """Yield the changed ranges of a family in limits, in batches, in address order and disjoint.

    Their codes are the position in ``ROW_KINDS`` and the metres. Then follow, each in OLD and in
    NEW, by table of ``compared.numbers`` the row, of equal ones the first; and by layer the number
    of the name of the source, from 1 on, 0 for none. A step raises DatasetError for a damaged
    dataset.
    """
    for quarter in _quarters(limits):
        windows = _windows(compared, family, quarter)
        yield from join(filter(len, (_changed(compared, family, window) for window in windows)))


def _quarters(limits: Range) -> Iterator[Range]:
    """Yield the parts of limits between multiples of ``_QUARTER``."""
    first, last = limits
    for quarter in range(first // _QUARTER, last // _QUARTER + 1):
        begin = quarter * _QUARTER
        yield max(first, begin), min(last, begin + _QUARTER - 1)


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


def _changed(compared: DatasetPair, family: int, window: Range) -> Spans:
    """Return the joint intervals of a window that changed and that meet the conditions."""
    both = JointIntervals(*(Side(side, family, window) for side in (compared.old, compared.new)))
    rows = {table: both.rows(table) for table in compared.columns[0].counts}
    marks = np.zeros(len(both.starts), bool)
    for table, numbers in compared.numbers.items():
        pair = numbers.through(rows[table])
        marks |= pair.old != pair.new
    marks[marks] = compared.meets(_take(rows, marks))
    at = np.flatnonzero(marks)
    ends = both.starts[at], lasts(both.starts, window[1])[at]
    first, last = (Addresses(*end.halves()) for end in ends)
    codes = tuple(_codes(compared, both, at, _take(rows, at))) if len(at) else ()
    return Spans(family, first, last, codes)


def _take(rows: Mapping[str, Pair], part: I64 | Bools) -> dict[str, Pair]:
    return {table: pair.take(part) for table, pair in rows.items()}


def _codes(
    compared: DatasetPair, both: JointIntervals, at: I64, rows: Mapping[str, Pair]
) -> Iterator[Codes]:
    """Yield the codes of some joint intervals, as ``changed_spans`` has them."""
    sources = both.sources(LOCATION, at)
    answers = Answers(rows[LOCATION], rows[NETWORK], sources, np.ones(len(at)))
    changes = changes_of(compared.values, answers)
    # Own columns are known in space where nothing else is.
    is_known = answers.in_old | answers.in_new
    yield np.where(is_known, kinds(compared.values, changes), UNCHANGED).astype(np.int32)
    metres = np.full(len(at), np.nan)
    if compared.has_coordinates:
        metres = np.rint(changes.moves.distances[changes.location_of] * 1000)
    yield np.nan_to_num(metres, nan=UNKNOWN).astype(np.int32)
    pairs = [first.through(rows[table]) for table, first in compared.first_equal.items()]
    pairs += [compared.source_numbers.through(both.sources(of, at)) for of in compared.layers]
    for pair in pairs:
        yield from (pair.old, pair.new)
