"""Rows of files by the hour and weekday at the place of their address.

Strategy: a chunk is counted at once, from the offsets that the zones of its addresses have at the
instants of its rows. Memory is one number for each hour of a week.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.gregorian import DAY
from geolookup.tables.fields import of_rows
from geolookup.tables.rows import row_tables
from geolookup.tables.take import Taker
from geolookup.tables.times import Clock, Instants, Int64

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

_DAYS, _HOURS = 7, 24
#: Day 0, 1970-01-01, was a Thursday; Monday is 0.
_THURSDAY = 3


class LocalHours:
    """Counts of public addresses by local weekday and hour.

    ``counts`` has shape (7, 24): Monday first, hours from midnight.
    """

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # its instant is that of no row
        self._taker = Taker(state, of_rows("time.utc_offset_seconds"), clock)
        self.counts = np.zeros((_DAYS, _HOURS), np.int64)
        #: public addresses whose row states no time, or whose time zone is not known
        self.without_time = 0
        self.without_zone = 0

    def add(self, intervals: NDArray[np.int32], instants: Instants | None) -> None:
        """Count n rows by their interval ids, those from 0 on; None: no row has an instant."""
        public = intervals >= 0
        if instants is None:
            self.without_time += int(public.sum())
            return
        timed = public & instants.stated
        self.without_time += int((public & ~timed).sum())
        seconds = instants.seconds[timed]
        offsets, known = self._offsets(intervals[timed], seconds)
        self.without_zone += int((~known).sum())
        self.counts += _counts(seconds[known] + offsets[known])

    def _offsets(
        self, intervals: NDArray[np.int32], seconds: Int64
    ) -> tuple[Int64, NDArray[np.bool_]]:
        """Return the seconds east of UTC at n intervals and instants, and which are known."""
        stated = np.ones(len(seconds), bool)
        (found,) = self._taker.take(intervals, Instants(seconds, stated))
        known = found.is_valid().to_numpy(zero_copy_only=False)
        return found.fill_null(0).to_numpy().astype(np.int64), known


def _counts(local: Int64) -> Int64:
    """Return the counts of local times, in seconds since 1970-01-01 without an offset."""
    weekday = (local // DAY + _THURSDAY) % _DAYS
    hour = local // 3600 % _HOURS
    counted = np.bincount(weekday * _HOURS + hour, minlength=_DAYS * _HOURS)
    return counted.reshape(_DAYS, _HOURS)
