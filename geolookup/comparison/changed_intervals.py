"""The ranges of one family whose answers differ, as columns of numbers.

Strategy: the datasets are overlaid in windows, so memory does not grow with them. The rows of each
table have numbers that are equal if the compared values are. A joint interval changed if the
numbers of its two rows differ in any table. Neighbours whose columns are all equal are joined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from geolookup.comparison.changes import KINDS, UNCHANGED, changes_of, kinds
from geolookup.comparison.dataset_pair import DatasetPair
from geolookup.comparison.overlay import Answers, Overlay, Rows, Side
from geolookup.comparison.values import Codes, Pair
from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.contract.special import Range
from geolookup.dataset.intervals import I64, Bools, lasts
from geolookup.dataset.runs import factorize
from geolookup.prefixes.spans import Halves, Spans, join

#: The kinds of change of a row, by number; the last is of own columns only.
ROW_KINDS = (*KINDS[:UNCHANGED], "own column value")
#: The number of metres of an unknown distance.
UNKNOWN = -1
#: An IPv6 row ends at each multiple of this: its number of addresses has 38 digits at most.
_QUARTER = 1 << 126
#: The intervals of a dataset that are overlaid at a time.
WINDOW = 1 << 18


class ChangeCodes(NamedTuple):
    """The codes of n ranges that changed.

    ``kinds`` are positions of ``ROW_KINDS``, ``metres`` distances, or UNKNOWN. ``rows`` are by
    table the rows in OLD and in NEW; of rows with the same compared values the first. ``sources``
    are by layer numbers of the names in ``DatasetPair.source_names`` from 1 on, 0 for none.
    """

    kinds: Codes
    metres: Codes
    rows: Mapping[str, tuple[Codes, Codes]]
    sources: Mapping[str, tuple[Codes, Codes]]


class ChangedSpans:
    """The ranges that changed between two datasets."""

    def __init__(self, compared: DatasetPair) -> None:
        self._compared = compared
        #: by table and row, the first row with the same compared values
        self._first_equal = {
            table: (_first_equal(pair.old), _first_equal(pair.new))
            for table, pair in compared.numbers.items()
        }

    def spans(self, family: int, limits: Range) -> Iterator[Spans]:
        """Yield the ranges of a family in limits, in batches; ``codes`` reads their codes.

        They are in address order and disjoint. A step raises DatasetError for a damaged dataset.
        """
        for quarter in _quarters(limits):
            windows = self._windows(family, quarter)
            yield from join(filter(len, (self._changed(family, window) for window in windows)))

    def codes(self, spans: Spans) -> ChangeCodes:
        """Return the codes of ranges by their names."""
        of_kinds, metres, *others = spans.codes
        pairs = list(zip(others[::2], others[1::2], strict=True))
        tables = len(self._first_equal)
        rows = dict(zip(self._first_equal, pairs[:tables], strict=True))
        sources = dict(zip(self._compared.layers, pairs[tables:], strict=True))
        return ChangeCodes(of_kinds, metres, rows, sources)

    def _windows(self, family: int, limits: Range) -> Iterator[Range]:
        """Yield the parts of the limits in which each dataset has a bounded number of intervals."""
        first, last = limits
        bounds = {
            starts[interval]
            for starts in (self._compared.old.starts(family), self._compared.new.starts(family))
            for interval in range(WINDOW, len(starts), WINDOW)
        }
        # Of a damaged dataset the starts may be in any order; ``Side`` finds that.
        for bound in sorted(bound for bound in bounds if first < bound <= last):
            yield first, bound - 1
            first = bound
        yield first, last

    def _changed(self, family: int, window: Range) -> Spans:
        """Return the joint intervals of a window that changed and that meet the conditions."""
        compared = self._compared
        both = Overlay(*(Side(side, family, window) for side in (compared.old, compared.new)))
        rows = {table: both.rows(table) for table in compared.columns[0].counts}
        marks: Bools = np.logical_or.reduce(
            [_differ(pair, *rows[table]) for table, pair in compared.numbers.items()]
        )
        marks[marks] = compared.meets(_take(rows, marks))
        at = np.flatnonzero(marks)
        ends = both.starts[at], lasts(both.starts, window[1])[at]
        first, last = (Halves(*reversed(end.halves())) for end in ends)
        return Spans(family, first, last, self._codes(both, at, _take(rows, at)) if len(at) else ())

    def _codes(
        self, both: Overlay, at: I64, rows: Mapping[str, tuple[Rows, Rows]]
    ) -> tuple[Codes, ...]:
        return (*self._kinds(both, at, rows), *self._rows(rows), *self._sources(both, at))

    def _kinds(
        self, both: Overlay, at: I64, rows: Mapping[str, tuple[Rows, Rows]]
    ) -> tuple[Codes, Codes]:
        """Return the kind of change and the metres of some joint intervals."""
        answers = Answers(
            *rows[LOCATION], *rows[NETWORK], *both.sources(LOCATION, at), weight=np.ones(len(at))
        )
        changes = changes_of(self._compared.values, answers)
        # Own columns are known in space where nothing else is.
        is_known = answers.in_old | answers.in_new
        of_kinds = np.where(is_known, kinds(self._compared.values, changes), UNCHANGED)
        metres = np.full(len(at), UNKNOWN, np.int32)
        if self._compared.has_coordinates:
            moved = np.rint(changes.moves.distances[changes.location_of] * 1000)
            metres[:] = np.where(np.isnan(moved), UNKNOWN, moved)
        return of_kinds.astype(np.int32), metres

    def _rows(self, rows: Mapping[str, tuple[Rows, Rows]]) -> Iterator[Codes]:
        for table, first_equal in self._first_equal.items():
            for first, of in zip(first_equal, rows[table], strict=True):
                yield first[of]

    def _sources(self, both: Overlay, at: I64) -> Iterator[Codes]:
        for layer in self._compared.layers:
            for names, numbers in zip(
                self._compared.source_numbers, both.sources(layer, at), strict=True
            ):
                yield names[numbers]


def _quarters(limits: Range) -> Iterator[Range]:
    """Yield the parts of limits between multiples of ``_QUARTER``."""
    first, last = limits
    for quarter in range(first // _QUARTER, last // _QUARTER + 1):
        begin = quarter * _QUARTER
        yield max(first, begin), min(last, begin + _QUARTER - 1)


def _first_equal(numbers: Codes) -> Codes:
    """Return for each row the first row with the same number."""
    codes, first = factorize([numbers])
    return first.astype(np.int32)[codes]


def _differ(numbers: Pair, old: Rows, new: Rows) -> Bools:
    differs: Bools = numbers.old[old] != numbers.new[new]
    return differs


def _take(rows: Mapping[str, tuple[Rows, Rows]], part: I64 | Bools) -> dict[str, tuple[Rows, Rows]]:
    return {table: (old[part], new[part]) for table, (old, new) in rows.items()}
