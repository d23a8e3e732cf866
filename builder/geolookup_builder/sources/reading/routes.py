"""Routes of a routing table to rows: a prefix is one row, with the origin that most routes have.

A table has a route for each peer that announces the prefix. Of origins with equally many routes
the least AS number is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup_builder.flatten import changes
from geolookup_builder.ranges import ParsedRanges, concatenated
from geolookup_builder.sources.reading.lookup_tables import AsNames, as_fields
from geolookup_builder.sources.reading.origins import NONE, without_default_routes
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers


@dataclass(frozen=True, slots=True)
class Routes:
    """Routes, or groups of equal ones: range, origin, how many, and the record of the first."""

    ranges: ParsedRanges
    origin: NDArray[np.uint32]
    count: I64
    record: I64

    def __len__(self) -> int:
        return len(self.origin)

    def __getitem__(self, rows: I64 | Bools) -> Routes:
        return Routes(
            self.ranges.take(rows), self.origin[rows], self.count[rows], self.record[rows]
        )


class RouteNumbers(RecordNumbers):
    """The record numbers of rows that are groups of records."""

    def assign(self, records: I64) -> None:
        """Give each row its record."""
        self._records = records
        self.delivered = len(records)

    def of(self, rows: I64) -> I64:
        """Return the record numbers of delivered rows."""
        return self._records[rows]


def rows(routes: Iterator[Routes], numbers: RouteNumbers, names: AsNames | None) -> Iterator[Batch]:
    """Yield one batch with a row for each prefix, and those for rejected routes behind them."""
    parts = [_grouped(each) for each in routes if len(each)]
    found = _joined(parts)
    rejected = found.ranges.family == 0
    chosen = _most_seen(_grouped(found[~rejected]))
    whole = _joined([chosen, found[rejected]])
    numbers.assign(whole.record)
    asn = without_default_routes(whole.ranges, _column(whole.origin))
    yield Batch(numbers, 0, whole.ranges, as_fields(asn, names))


def _joined(parts: list[Routes]) -> Routes:
    if not parts:
        parts = [empty()]
    return Routes(
        concatenated([each.ranges for each in parts]),
        np.concatenate([each.origin for each in parts]),
        np.concatenate([each.count for each in parts]),
        np.concatenate([each.record for each in parts]),
    )


def empty() -> Routes:
    """Return no routes."""
    none, byte = np.empty(0, np.uint64), np.empty(0, np.uint8)
    ends = Addresses(none, none)
    ranges = ParsedRanges(byte, ends, ends, byte)
    counts = np.empty(0, np.int64)
    return Routes(ranges, np.empty(0, np.uint32), counts, counts)


def _grouped(routes: Routes) -> Routes:
    """Return routes of equal range and origin as one, in order of range; rejected ones alone."""
    keys = _range_keys(routes.ranges)
    alone = np.where(routes.ranges.family == 0, routes.record, 0)
    order = np.lexsort((routes.record, routes.origin, alone, *reversed(keys)))
    begins = _begins(order, *keys, alone, routes.origin)
    if not len(order):
        return routes
    first = order[begins]
    count = np.add.reduceat(routes.count[order], begins)
    found = routes[first]
    return Routes(found.ranges, found.origin, count, found.record)


def _most_seen(groups: Routes) -> Routes:
    """Return, of the groups of each range, the one with most routes; one with an origin first."""
    keys = _range_keys(groups.ranges)
    without = groups.origin == NONE
    order = np.lexsort((groups.origin, -groups.count, without, *reversed(keys)))
    return groups[order[_begins(order, *keys)]]


def _range_keys(ranges: ParsedRanges) -> list[NDArray[np.generic]]:
    ends = [*ranges.first.halves(), *ranges.last.halves()]
    return [ranges.family, ends[1], ends[0], ends[3], ends[2]]


def _begins(order: I64, *keys: NDArray[np.generic]) -> I64:
    """Return where a group begins in rows that are sorted by the keys."""
    if not len(order):
        return order
    return np.flatnonzero(changes(*(each[order] for each in keys)))  # type: ignore[arg-type]


def _column(origins: NDArray[np.uint32]) -> pa.DictionaryArray:
    """Return origins as texts; null where there is none."""
    distinct, codes = np.unique(origins, return_inverse=True)
    texts = pa.array(map(str, distinct.tolist()), pa.string())
    indices = pa.array(codes.astype(np.int32), mask=origins == NONE)
    return pa.DictionaryArray.from_arrays(indices, texts)
