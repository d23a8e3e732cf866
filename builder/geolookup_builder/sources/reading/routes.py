"""Routes of a routing table to rows: a prefix is one row, with the origin that most routes have.

A table has a route for each peer that announces the prefix. Of origins with equally many routes
the least AS number is taken. A default route says nothing about an address: its AS number is made
invalid, so that it is nulled and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import I64, Addresses, Bools
from geolookup_builder.flatten import changes
from geolookup_builder.ranges import ParsedRanges, concatenated
from geolookup_builder.sources.reading.lookup_tables import AsNames
from geolookup_builder.sources.reading.origins import NONE
from geolookup_builder.sources.reading.reader import Batch, RecordNumbers

_DEFAULT_ROUTE = "default route"


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
    asn = _column(whole)
    fields = {"asn": asn} if names is None else {"asn": asn, "asn_organization": names.of(asn)}
    yield Batch(numbers, 0, whole.ranges, fields)


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


def _column(routes: Routes) -> pa.DictionaryArray:
    """Return the origins as a column: null for none, no number for a default route."""
    distinct, codes = np.unique(routes.origin, return_inverse=True)
    values = [str(each) for each in distinct.tolist()] + [_DEFAULT_ROUTE]
    codes = np.where(_default_routes(routes.ranges), len(distinct), codes)
    masked = pa.array(
        codes.astype(np.int32), mask=(routes.origin == NONE) & (codes < len(distinct))
    )
    return pa.DictionaryArray.from_arrays(masked, pa.array(values, pa.string()))


def _default_routes(ranges: ParsedRanges) -> Bools:
    found: Bools = np.zeros(len(ranges.family), bool)
    for family in (4, 6):
        ends = Addresses.of(6, [0, MAX[family]])
        whole = ranges.first.equals(ends[:1]) & ranges.last.equals(ends[1:])
        found |= (ranges.family == family) & whole
    return found
