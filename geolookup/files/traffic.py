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
from geolookup.dataset.intervals import F64
from geolookup.dataset.runs import distinct
from geolookup.tables.locate import parse_chunk
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import Taker, of_table
from geolookup.tables.times import Clock, Instants, Int64

if TYPE_CHECKING:
    from geolookup.kernel import State

DAYS, HOURS = 7, 24
HOUR, WEEK, WEEK_HOURS = 3600, 7 * DAY, DAYS * HOURS
#: Where buckets begin: 0001-01-01, a Monday.
_ORIGIN = EARLIEST - DAY
#: The sizes of buckets in seconds, and how many a period has before they become larger.
_SIZES = (60, HOUR, DAY, WEEK)
_MOST = 240
#: A bucket at the end of a period is whole if the period has all but this part of it.
_SLACK = 0.1
#: Offsets from UTC are rounded to quarters of an hour; none is a day or more.
_QUARTER, _QUARTERS = 900, 96
#: More hours than are in ten thousand years.
_SPAN = 1 << 32
#: Classes of status codes: 1xx to 5xx.
STATUSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
#: Kinds of network by ``user_type``.
HOSTING = ("hosting", "other kinds", "unknown")


_ADDRESS = pa.binary(16)
#: Of an IPv4-mapped address, ::ffff:0:0/96, the lower half without the IPv4 address.
_MAPPED = np.uint64(0xFFFF << 32)
#: Addresses that wait, at least, before they are counted.
_WAITING = 1 << 18


class Traffic:
    """Counts of the requests of any number of files.

    ``statuses`` and ``hosting`` are counts by country, shape (countries + 1, classes): row 0 is the
    unknown country, row 1 the first of ``countries``.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        tables = row_tables(state.dataset)
        code, user_type = of_table(("country_code", "user_type"))
        codes = tables.by_row(code).cast(pa.string()).dictionary_encode()
        self.countries: list[str] = codes.dictionary.to_pylist()
        self._country_of = codes.indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        is_hosting = pc.equal(tables.by_row(user_type).cast(pa.string()), "hosting")
        self._kind_of = pc.if_else(is_hosting, 0, 1).fill_null(2).to_numpy().astype(np.int64)
        self.statuses = np.zeros((len(self.countries) + 1, len(STATUSES)), np.int64)
        self.hosting = np.zeros((len(self.countries) + 1, len(HOSTING)), np.int64)
        #: distinct addresses of 16 bytes, and further ones that may repeat
        self._distinct, self._waiting = pa.array([], _ADDRESS), [pa.array([], _ADDRESS)]
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
        self._add_distinct(addresses.filter(mask))
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

    def _add_distinct(self, addresses: pa.Array) -> None:
        parsed = parse_chunk(addresses)
        low = np.where(parsed.family == 4, parsed.low | _MAPPED, parsed.low)
        halves = np.stack([parsed.high, low], axis=1).astype(">u8")
        buffers = [None, pa.py_buffer(halves)]
        self._waiting.append(pa.Array.from_buffers(_ADDRESS, len(halves), buffers).unique())
        if sum(map(len, self._waiting)) > max(_WAITING, len(self._distinct)):
            self.distinct()

    def distinct(self) -> int:
        """Return the number of distinct addresses; an IPv4-mapped one is the IPv4 address."""
        self._distinct = pc.unique(pa.chunked_array([self._distinct, *self._waiting]))
        self._waiting.clear()
        return len(self._distinct)


class Times:
    """Requests by buckets of time: minutes, hours, days or weeks, by the length of the period.

    ``numbers`` are the buckets with requests, and ``counts`` their requests.
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
        fresh = (seconds - _ORIGIN) // self.size
        self.numbers, self.counts = _merge(self.numbers, self.counts, fresh)

    def buckets(self) -> range:
        """Return the numbers of the buckets from the first time to the last."""
        if self.first is None or self.last is None:
            return range(0)
        first, last = ((second - _ORIGIN) // self.size for second in (self.first, self.last))
        return range(first, last + 1)

    def whole_buckets(self) -> range:
        """Return the buckets without those that are only partly between both times."""
        if self.first is None or self.last is None:
            return range(0)
        return _whole(self.first, self.last, self.size)

    def start(self, bucket: int) -> int:
        """Return the first Unix second of a bucket."""
        return bucket * self.size + _ORIGIN


class LocalHours:
    """Requests by hour of the local week: 0 is Monday from midnight to one, 167 the last hour.

    They are counted by hour and offset from UTC: a period has other local hours at other offsets.
    """

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # each row has its own instant
        self._taker = Taker(state, of_table(("time.utc_offset_seconds",)), clock)
        self._keys = np.empty(0, np.int64)  # of an offset and an hour
        self._counts = np.empty(0, np.int64)

    @property
    def known(self) -> int:
        """The requests whose local time is known."""
        return int(self._counts.sum())

    def add(self, intervals: NDArray[np.int32], seconds: Int64) -> None:
        """Count n interval ids and their Unix seconds, if their time zone is known."""
        (column,) = self._taker.take(intervals, Instants(seconds, np.ones(len(seconds), bool)))
        is_known = column.is_valid().to_numpy(zero_copy_only=False)
        offsets = column.fill_null(0).to_numpy().astype(np.int64)[is_known]
        rows = (offsets + _QUARTER // 2) // _QUARTER + _QUARTERS
        keys = rows * _SPAN + (seconds[is_known] + offsets - _ORIGIN) // HOUR
        self._keys, self._counts = _merge(self._keys, self._counts, keys)

    def average_week(self, first: int, last: int) -> tuple[F64, Int64]:
        """Return the requests per hour of an average week, and in all; each of shape (168,).

        Both are of the hours that are whole between two Unix seconds; the average is NaN if an hour
        of the week is not among them. Example: 60 requests on one Monday from 10 to 11 and 70 on
        the next are 65 per hour, and 130 in all.
        """
        rows, hours = np.divmod(self._keys, _SPAN)
        average, total = np.full(WEEK_HOURS, np.nan), np.zeros(WEEK_HOURS, np.int64)
        for row in np.unique(rows).tolist():
            offset = (row - _QUARTERS) * _QUARTER
            whole = _whole(first + offset, last + offset, HOUR)
            inside = (rows == row) & (hours >= whole.start) & (hours < whole.stop)
            counts = np.bincount(hours[inside] % WEEK_HOURS, self._counts[inside], WEEK_HOURS)
            occurrences = _occurrences(whole)
            occurs = occurrences > 0
            average[occurs] = np.nan_to_num(average[occurs]) + counts[occurs] / occurrences[occurs]
            total += counts.astype(np.int64)
        return average, total


def _occurrences(hours: range) -> Int64:
    """Return how often each hour of the week is in a range of hours since a Monday."""
    weeks, further = divmod(len(hours), WEEK_HOURS)
    since_first = (np.arange(WEEK_HOURS) - hours.start) % WEEK_HOURS
    return weeks + (since_first < further).astype(np.int64)


def _whole(first: int, last: int, size: int) -> range:
    """Return the numbers of the buckets of a size that are whole between two times."""
    slack = int(_SLACK * size)
    start = -((_ORIGIN + slack - first) // size)
    return range(start, max(start, (last + 1 + slack - _ORIGIN) // size))


def _merge(numbers: Int64, counts: Int64, fresh: Int64) -> tuple[Int64, Int64]:
    """Return distinct numbers and their counts; each of n fresh numbers adds one."""
    sums = distinct([np.append(numbers, fresh)], np.append(counts, np.ones(len(fresh))))
    # A sum of float64 is exact up to 2^53.
    return sums.columns[0], sums.weight.astype(np.int64)
