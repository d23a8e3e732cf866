"""Requests by time and by hour of the week; by country also by status code and kind of network.

A request is a row with a public address. ``Traffic`` is the part of a summary that the map needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.contract.gregorian import DAY
from geolookup.contract.localtime import EARLIEST
from geolookup.files.distinct import DistinctAddresses
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import Taker, of_rows
from geolookup.tables.times import Clock, Instants, Int64

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

F64 = NDArray[np.float64]
DAYS, HOURS = 7, 24
HOUR, WEEK = 3600, 7 * DAY
#: Where buckets begin: 0001-01-01, a Monday.
_ORIGIN = EARLIEST - DAY
#: The sizes of buckets in seconds, and how many a period has before they become larger.
_SIZES = (60, HOUR, DAY, WEEK)
_MOST = 240
#: Offsets from UTC are rounded to quarters of an hour; none is a day or more.
_QUARTER, _QUARTERS = 900, 96
#: Classes of status codes: 1xx to 5xx.
STATUSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
#: Kinds of network by ``user_type``.
HOSTING = ("hosting", "other kinds", "unknown")


class Traffic:
    """Counts of the requests of any number of files.

    ``statuses`` and ``hosting`` are counts by country, shape (countries + 1, classes): row 0 is the
    unknown country, row 1 the first of ``countries``.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        tables = row_tables(state.dataset)
        code, user_type = of_rows(("country_code", "user_type"))
        codes = tables.by_row(code).cast(pa.string()).dictionary_encode()
        self.countries: list[str] = codes.dictionary.to_pylist()
        self._country_of = codes.indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        is_hosting = pc.equal(tables.by_row(user_type).cast(pa.string()), "hosting")
        self._kind_of = pc.if_else(is_hosting, 0, 1).fill_null(2).to_numpy().astype(np.int64)
        self.statuses = np.zeros((len(self.countries) + 1, len(STATUSES)), np.int64)
        self.hosting = np.zeros((len(self.countries) + 1, len(HOSTING)), np.int64)
        self.distinct = DistinctAddresses()
        self.times = Times()
        self.hours = LocalHours(state)

    def add(
        self,
        addresses: pa.Array,
        intervals: NDArray[np.int32],
        instants: Instants | None,
        statuses: pa.Array | None,
    ) -> None:
        """Count n rows: their addresses, interval ids, instants and status codes."""
        is_public = intervals >= 0
        mask, intervals = pa.array(is_public), intervals[is_public]
        self.distinct.add(addresses.filter(mask))
        rows = {table: np.empty(len(intervals), np.uint32) for table in (LOCATION, NETWORK)}
        self._state.take_rows(intervals, *rows.values())
        countries = self._country_of[rows[LOCATION]]
        np.add.at(self.hosting, (countries, self._kind_of[rows[NETWORK]]), 1)
        if statuses is not None:
            codes = statuses.filter(mask).fill_null(0).to_numpy(zero_copy_only=False)
            classes = codes.astype(np.int64) // 100 - 1
            has_class = (classes >= 0) & (classes < len(STATUSES))
            np.add.at(self.statuses, (countries[has_class], classes[has_class]), 1)
        if instants is not None:
            timed = instants.is_valid[is_public]
            seconds = instants.seconds[is_public][timed]
            self.times.add(seconds)
            self.hours.add(intervals[timed], seconds)


class Times:
    """Requests by buckets of time: minutes, hours, days or weeks, by the length of the period.

    ``numbers`` are the buckets with requests, in order, and ``counts`` theirs.
    """

    def __init__(self) -> None:
        self.first: int | None = None  # the first and the last time, Unix seconds
        self.last: int | None = None
        self.numbers = np.empty(0, np.int64)
        self.counts = np.empty(0, np.int64)
        self._at = 0

    @property
    def size(self) -> int:
        """The size of a bucket in seconds."""
        return _SIZES[self._at]

    def add(self, seconds: Int64) -> None:
        """Count n Unix seconds."""
        if not len(seconds):
            return
        first, last = int(seconds.min()), int(seconds.max())
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)
        while len(self.buckets()) > _MOST and self.size < _SIZES[-1]:
            self._at += 1
            self.numbers //= self.size // _SIZES[self._at - 1]
        numbers = np.append(self.numbers, (seconds - _ORIGIN) // self.size)
        weights = np.append(self.counts, np.ones(len(seconds), np.int64))
        self.numbers, group = np.unique(numbers, return_inverse=True)
        # A sum of float64 is exact up to 2^53.
        self.counts = np.bincount(group, weights).astype(np.int64)

    def buckets(self) -> range:
        """Return the numbers of the buckets from the first time to the last."""
        if self.first is None or self.last is None:
            return range(0)
        first, last = ((second - _ORIGIN) // self.size for second in (self.first, self.last))
        return range(first, last + 1)

    def start(self, bucket: int) -> int:
        """Return the first Unix second of a bucket."""
        return bucket * self.size + _ORIGIN


class LocalHours:
    """Requests by hour of the local week: 0 is Monday from midnight to one, 167 the last hour.

    Each offset from UTC has a row of 168 counts: a period has other local hours at other offsets.
    """

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # each row has its own instant
        self._taker = Taker(state, of_rows(("time.utc_offset_seconds",)), clock)
        self._by_offset = np.zeros((2 * _QUARTERS + 1, DAYS * HOURS), np.int64)

    @property
    def counts(self) -> Int64:
        """The requests by hour of the week, shape (168,)."""
        counts: Int64 = self._by_offset.sum(axis=0)
        return counts

    def add(self, intervals: NDArray[np.int32], seconds: Int64) -> None:
        """Count n interval ids and their Unix seconds, if their time zone is known."""
        (column,) = self._taker.take(intervals, Instants(seconds, np.ones(len(seconds), bool)))
        is_known = column.is_valid().to_numpy(zero_copy_only=False)
        offsets = column.fill_null(0).to_numpy().astype(np.int64)[is_known]
        rows = (offsets + _QUARTER // 2) // _QUARTER + _QUARTERS
        hours = (seconds[is_known] + offsets - _ORIGIN) % WEEK // HOUR
        np.add.at(self._by_offset, (rows, hours), 1)

    def average(self, first: int, last: int) -> F64:
        """Return the requests per hour on an average day between two Unix seconds.

        The shape is (168,); NaN if an hour of the week does not occur between them.
        """
        rows = np.flatnonzero(self._by_offset.any(axis=1))
        offsets = ((rows - _QUARTERS) * _QUARTER).tolist()
        occurrences = np.array([_occurrences(first + at, last + at) for at in offsets])
        average: F64 = np.nansum(self._by_offset[rows] / occurrences, axis=0)
        return np.where(np.isnan(occurrences).all(axis=0), np.nan, average)


def _occurrences(first: int, last: int) -> F64:
    """Return how often each hour of the week occurs between two local times; NaN if never.

    An hour that lies partly in the period counts as that part, but at least once. From Monday
    10:40 to the Monday after it at 12:00, the hour from 10 on occurs 1 + 1/3 times.
    """
    hours = np.arange(DAYS * HOURS) * HOUR

    def until(end: int) -> Int64:
        """Return the seconds of each hour of the week from ``_ORIGIN`` to a local time."""
        weeks, seconds = divmod(end - _ORIGIN, WEEK)
        return weeks * HOUR + np.clip(seconds - hours, 0, HOUR)

    parts = (until(last + 1) - until(first)) / HOUR
    return np.where(parts > 0, np.maximum(parts, 1.0), np.nan)
