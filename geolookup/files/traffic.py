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
#: Offsets from UTC are rounded to quarters of an hour.
_QUARTER = 900
_KEYS = ("start", "offset")
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
        #: addresses of 16 bytes: distinct ones, and then those of blocks that may repeat
        self._addresses = [pa.array([], _ADDRESS)]
        self.times = Times(state)

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
            self.times.add(intervals[timed], seconds)

    def _add_distinct(self, addresses: pa.Array) -> None:
        parsed = parse_chunk(addresses)
        low = np.where(parsed.family == 4, parsed.low | _MAPPED, parsed.low)
        halves = np.stack([parsed.high, low], axis=1).astype(">u8")
        buffers = [None, pa.py_buffer(halves)]
        self._addresses.append(pa.Array.from_buffers(_ADDRESS, len(halves), buffers).unique())
        before, *further = map(len, self._addresses)
        if sum(further) > max(_WAITING, before):
            self.distinct()

    def distinct(self) -> int:
        """Return the number of distinct addresses; an IPv4-mapped one is the IPv4 address."""
        self._addresses = [pc.unique(pa.chunked_array(self._addresses))]
        return len(self._addresses[0])


class Times:
    """Requests by time, and by hour of the local week.

    They are counted by period and by offset from UTC. A period is a minute while all requests are
    within a few hours, else a quarter of an hour: all buckets and local hours consist of them.
    """

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # each row has its own instant
        self._taker = Taker(state, of_table(("time.utc_offset_seconds",)), clock)
        self._period = _SIZES[0]  # seconds
        #: by Unix second of the period's start, and by offset, null if the zone is unknown
        self._counts = pa.table({name: pa.array([], pa.int64()) for name in (*_KEYS, "requests")})
        self.first: int | None = None  # the first and the last time, Unix seconds
        self.last: int | None = None

    def add(self, intervals: NDArray[np.int32], seconds: Int64) -> None:
        """Count n interval ids and their Unix seconds."""
        if not len(seconds):
            return
        first, last = int(seconds.min()), int(seconds.max())
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)
        if self.size > _SIZES[0]:
            self._period = _QUARTER
        (offsets,) = self._taker.take(intervals, Instants(seconds, np.ones(len(seconds), bool)))
        offsets = pc.round_to_multiple(offsets.cast(pa.float64()), _QUARTER).cast(pa.int64())
        ones = pa.array(np.ones(len(seconds), np.int64))
        fresh = pa.table([pa.array(seconds), offsets, ones], self._counts.schema.names)
        table = pa.concat_tables([self._counts, fresh])
        starts = table["start"].to_numpy() // self._period * self._period
        table = table.set_column(0, "start", pa.array(starts)).group_by([*_KEYS])
        sums = table.aggregate([("requests", "sum")]).select([*_KEYS, "requests_sum"])
        self._counts = sums.rename_columns(fresh.column_names)

    @property
    def requests(self) -> int:
        """The requests with a time."""
        return int(pc.sum(self._counts["requests"]).as_py() or 0)

    @property
    def size(self) -> int:
        """The size of a bucket in seconds: a minute, hour, day or week, by the whole period."""
        return next((size for size in _SIZES if len(self._buckets(size)) <= _MOST), _SIZES[-1])

    def _buckets(self, size: int, slack: float | None = None) -> range:
        if self.first is None or self.last is None:
            return range(0)
        return _buckets(self.first, self.last, size, slack)

    def buckets(self, *, whole: bool = False) -> range:
        """Return the buckets of all times; ``whole``: without those partly outside the period."""
        return self._buckets(self.size, _SLACK if whole else None)

    def start(self, bucket: int) -> int:
        """Return the first Unix second of a bucket."""
        return bucket * self.size + _ORIGIN

    def counts(self, buckets: range) -> Int64:
        """Return the requests of each bucket of a range."""
        numbers = (self._counts["start"].to_numpy() - _ORIGIN) // self.size
        return _sums(numbers - buckets.start, self._counts["requests"].to_numpy(), len(buckets))

    @property
    def known(self) -> int:
        """The requests whose local time is known."""
        return int(pc.sum(self._counts.drop_null()["requests"]).as_py() or 0)

    def average_week(self, first: int, last: int) -> tuple[F64, Int64]:
        """Return the requests per hour of an average week, and in all; each of shape (168,).

        Hour 0 is Monday from midnight to one. Both are of the hours that are whole between two Unix
        seconds; the average is NaN if an hour of the week is not among them. Example: 60 requests
        on one Monday from 10 to 11 and 70 on the next are 65 per hour, and 130 in all.
        """
        starts, offsets, requests = (
            column.to_numpy() for column in self._counts.drop_null().columns
        )
        hours = (starts + offsets - _ORIGIN) // HOUR
        average, total = np.full(WEEK_HOURS, np.nan), np.zeros(WEEK_HOURS, np.int64)
        # At each offset, other hours are whole.
        for offset in np.unique(offsets).tolist():
            whole = _buckets(first + offset, last + offset, HOUR, _SLACK)
            inside = (offsets == offset) & (hours >= whole.start) & (hours < whole.stop)
            counts = _sums(hours[inside] % WEEK_HOURS, requests[inside], WEEK_HOURS)
            weeks, further = divmod(len(whole), WEEK_HOURS)
            since_first = (np.arange(WEEK_HOURS) - whole.start) % WEEK_HOURS
            occurrences = weeks + (since_first < further)
            occurs = occurrences > 0
            average[occurs] = np.nan_to_num(average[occurs]) + counts[occurs] / occurrences[occurs]
            total += counts
        return average, total


def _sums(at: Int64, counts: Int64, size: int) -> Int64:
    """Return the sums of counts by number, for the numbers from 0 to before ``size``."""
    inside = (at >= 0) & (at < size)
    # A sum of float64 is exact up to 2^53.
    return np.bincount(at[inside], counts[inside], size).astype(np.int64)


def _buckets(first: int, last: int, size: int, slack: float | None) -> range:
    """Return the numbers of the buckets of a size between two times.

    With ``slack``, they are whole, or lack no more than this part at an end of the period.
    """
    if slack is None:
        return range((first - _ORIGIN) // size, (last - _ORIGIN) // size + 1)
    spare = int(slack * size)
    start = -((_ORIGIN + spare - first) // size)
    return range(start, max(start, (last + 1 + spare - _ORIGIN) // size))
