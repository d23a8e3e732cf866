"""Requests by time, local hour, class of status and kind of network, each by country and network.

A request is a row with a public address. ``Traffic`` is the part of a summary that the map needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.gregorian import DAY
from geolookup.contract.localtime import EARLIEST
from geolookup.files.distinct import DistinctAddresses
from geolookup.files.joint_counts import JointCounts, Pairs
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import Taker, of_rows
from geolookup.tables.times import Bools, Clock, Instants, Int64

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

DAYS, HOURS = 7, 24
#: Day 0, 1970-01-01, was a Thursday; Monday is 0.
_THURSDAY = 3
#: Where buckets begin: 0001-01-01, a Monday.
_ORIGIN = EARLIEST - DAY
#: The sizes of buckets in seconds, and how many a period has before they become larger.
_SIZES = (60, 3600, DAY, 7 * DAY)
_MOST = 240
#: Classes of status codes: 1xx to 5xx.
STATUSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
#: Kinds of network by ``user_type``.
HOSTING = ("hosting", "other kinds", "unknown")


class Rows(NamedTuple):
    """n rows with public addresses."""

    intervals: NDArray[np.int32]
    pairs: Int64
    instants: Instants | None  # None: no row has an instant


class Traffic:
    """Counts of the requests of any number of files."""

    def __init__(self, state: State) -> None:
        self.pairs = Pairs(state)
        self.distinct = DistinctAddresses()
        self.hours = LocalHours(state)
        self.times = Times()
        self.statuses = Statuses()
        self.hosting = Hosting(state)

    def add(
        self,
        addresses: pa.Array,
        intervals: NDArray[np.int32],
        instants: Instants | None,
        statuses: pa.Array | None,
    ) -> None:
        """Count n rows: their addresses, interval ids, instants and status codes."""
        is_public = intervals >= 0
        mask = pa.array(is_public)
        self.distinct.add(addresses.filter(mask))
        if instants is not None:
            instants = Instants(instants.seconds[is_public], instants.is_valid[is_public])
        intervals = intervals[is_public]
        rows = Rows(intervals, self.pairs.of(intervals), instants)
        self.hours.add(rows)
        self.times.add(rows)
        self.hosting.add(rows)
        if statuses is not None:
            self.statuses.add(rows, statuses.filter(mask))


class LocalHours:
    """Requests by hour of the local week: 0 is Monday from midnight to one, 167 the last hour."""

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # each row has its own instant
        self._taker = Taker(state, of_rows(("time.utc_offset_seconds",)), clock)
        self.joint = JointCounts()
        #: counts by hour of the week in local time and in UTC, shape (168,)
        self.counts = np.zeros(DAYS * HOURS, np.int64)
        self.utc = np.zeros(DAYS * HOURS, np.int64)
        #: requests without a time in their row, or without a known time zone
        self.without_time = 0
        self.without_zone = 0

    def add(self, rows: Rows) -> None:
        """Count rows."""
        if rows.instants is None:
            self.without_time += len(rows.intervals)
            return
        timed = rows.instants.is_valid
        self.without_time += int((~timed).sum())
        seconds = rows.instants.seconds[timed]
        offsets, has_offset = self._offsets(rows.intervals[timed], seconds)
        self.without_zone += int((~has_offset).sum())
        local = hour_of_week(seconds[has_offset] + offsets[has_offset])
        self.joint.add(rows.pairs[timed][has_offset], local)
        self.counts += np.bincount(local, minlength=DAYS * HOURS)
        self.utc += np.bincount(hour_of_week(seconds), minlength=DAYS * HOURS)

    def _offsets(self, intervals: NDArray[np.int32], seconds: Int64) -> tuple[Int64, Bools]:
        """Return the seconds east of UTC at n intervals and instants, and whether each is known."""
        all_valid = np.ones(len(seconds), bool)
        (offsets,) = self._taker.take(intervals, Instants(seconds, all_valid))
        has_offset = offsets.is_valid().to_numpy(zero_copy_only=False)
        return offsets.fill_null(0).to_numpy().astype(np.int64), has_offset


def hour_of_week(local: Int64) -> Int64:
    """Return the hours of the week of local times, in seconds since 1970-01-01."""
    # Day 0 is 3, Thursday; // and % round down, so days before 1970 are right too.
    weekday = (local // DAY + _THURSDAY) % DAYS
    return weekday * HOURS + local // 3600 % HOURS


class Times:
    """Requests by buckets of time: minutes, hours, days or weeks, by the length of the period."""

    def __init__(self) -> None:
        self.joint = JointCounts()
        self.first: int | None = None  # the first and the last time, Unix seconds
        self.last: int | None = None
        self._at = 0

    @property
    def size(self) -> int:
        """The size of a bucket in seconds."""
        return _SIZES[self._at]

    def add(self, rows: Rows) -> None:
        """Count the rows that have an instant."""
        if rows.instants is None or not rows.instants.is_valid.any():
            return
        timed = rows.instants.is_valid
        seconds = rows.instants.seconds[timed]
        first, last = int(seconds.min()), int(seconds.max())
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)
        while len(self.buckets()) > _MOST and self.size < _SIZES[-1]:
            self._at += 1
            self.joint.divide(self.size // _SIZES[self._at - 1])
        self.joint.add(rows.pairs[timed], (seconds - _ORIGIN) // self.size)

    def buckets(self) -> range:
        """Return the numbers of the buckets from the first time to the last."""
        if self.first is None or self.last is None:
            return range(0)
        first, last = ((second - _ORIGIN) // self.size for second in (self.first, self.last))
        return range(first, last + 1)

    def start(self, bucket: int) -> int:
        """Return the first Unix second of a bucket."""
        return bucket * self.size + _ORIGIN


class Statuses:
    """Requests by class of status code; the value is the position in ``STATUSES``."""

    def __init__(self) -> None:
        self.joint = JointCounts()

    def add(self, rows: Rows, statuses: pa.Array) -> None:
        """Count the rows that have a status code of a class."""
        codes = pc.fill_null(statuses, 0).to_numpy(zero_copy_only=False).astype(np.int64)
        kinds = codes // 100 - 1
        has_class = (kinds >= 0) & (kinds < len(STATUSES))
        self.joint.add(rows.pairs[has_class], kinds[has_class])


class Hosting:
    """Requests by kind of network: the position in ``HOSTING``."""

    def __init__(self, state: State) -> None:
        self._state = state
        (field,) = of_rows(("user_type",))
        kinds = row_tables(state.dataset).by_row(field).cast(pa.string())
        kind_of_row = pc.if_else(pc.equal(kinds, "hosting"), 0, 1).fill_null(2)
        self._kinds = kind_of_row.to_numpy().astype(np.int64)  # by network row
        self.joint = JointCounts()

    def add(self, rows: Rows) -> None:
        """Count rows."""
        networks = np.empty(len(rows.intervals), np.uint32)
        self._state.take_rows(rows.intervals, networks[:0], networks)
        self.joint.add(rows.pairs, self._kinds[networks])
