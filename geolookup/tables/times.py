"""The time object of whole columns: one instant for all rows, or one for each.

Strategy: with one instant, every zone is rendered once, and rows take the result by zone. With many
instants, a chunk is sorted by zone and instant, and each of its periods of constant offset is
looked up once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import FIELDS
from geolookup.contract.gregorian import DAY
from geolookup.contract.localtime import EARLIEST, LATEST, Period, time_object
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.runs import run_starts
from geolookup.kernel import period
from geolookup.tables.row_notes import RowNote

#: Ticks of each unit of timestamps.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
_ZERO = 48
_TYPES = {field.member: type_of(field) for field in FIELDS if field.group == "time"}


@dataclass(frozen=True, slots=True)
class Instants:
    """n whole Unix seconds, EARLIEST <= second < LATEST; 0 if the instant is null."""

    seconds: NDArray[np.int64]
    is_valid: NDArray[np.bool_]

    def slice(self, begin: int, count: int) -> Instants:
        """Return the instants of some rows."""
        rows = slice(begin, begin + count)
        return Instants(self.seconds[rows], self.is_valid[rows])

    def take(self, rows: Int64) -> Instants:
        """Return the instants of rows by number."""
        return Instants(self.seconds[rows], self.is_valid[rows])


def instants_of(array: pa.Array, begin: int = 0) -> Instants:
    """Return the instants of a column of aware timestamps, or of Unix times, floored.

    Raises TypeError for timestamps without a time zone and for other types, ValueError for
    NaN and instants outside the contract's range; ``begin`` is the number of the first row,
    for the message.
    """
    is_valid = array.is_valid().to_numpy(zero_copy_only=False)
    seconds = _numbers(array)
    wrong = np.flatnonzero(~((seconds >= EARLIEST) & (seconds < LATEST)))  # so is NaN
    if len(wrong):
        error = ValueError("a time must be from 0001-01-02 to before 9999-12-31, UTC")
        error.add_note(RowNote(begin + int(wrong[0])))
        raise error
    whole = np.floor(seconds) if seconds.dtype.kind == "f" else seconds
    return Instants(whole.astype(np.int64, copy=False), is_valid)


def _numbers(array: pa.Array) -> NDArray[Any]:
    """Return Unix times as numbers, 0 if they are null; whole if they are timestamps."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        if kind.tz is None:
            raise TypeError("the column of times has no time zone; add one, such as UTC")
        ticks = _plain(array.cast(pa.int64()))
        # Floored: -1 ms is second -1.
        return ticks // PER_SECOND[kind.unit]
    if pa.types.is_floating(kind):
        return _plain(array).astype(np.float64)
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return _plain(array if pa.types.is_integer(kind) else array.cast(pa.int64()))
    problem = f"a column of times must hold timestamps or Unix times, not {kind}"
    raise TypeError(f"{problem}; convert it, such as with pandas.to_datetime(column, utc=True)")


def _plain(array: pa.Array) -> NDArray[Any]:
    # The values under nulls are undefined: 0 replaces them before the check.
    plain: NDArray[Any] = array.fill_null(0).to_numpy(zero_copy_only=False)
    return plain


class Clock:
    """Local times by zone row; ``second`` is the instant of rows without their own."""

    def __init__(self, zones: Sequence[str | None], second: int) -> None:
        self._zones = zones
        self._second = second
        self._rendered: dict[str, pa.Array] | None = None
        self._periods: dict[int, tuple[list[int], list[Period]]] = {}

    def take(
        self,
        zone_rows: pa.Array | None,
        valid: NDArray[np.bool_],
        members: Sequence[str],
        instants: Instants | None,
    ) -> dict[str, pa.Array]:
        """Return columns of n rows for members of the time object; null if ``valid`` is false.

        ``instants`` are the n instants of the rows; a null instant gives null. None: one instant.
        """
        if zone_rows is None or not members:
            return {}
        if instants is None:
            return self._at_one_instant(zone_rows, valid, members)
        has_time = valid & instants.is_valid
        return self._at_each_instant(zone_rows.to_numpy(), has_time, members, instants.seconds)

    def _at_one_instant(
        self, zone_rows: pa.Array, valid: NDArray[np.bool_], members: Sequence[str]
    ) -> dict[str, pa.Array]:
        if self._rendered is None:
            self._rendered = self._render()
        columns = {
            member: self._rendered[member].take(zone_rows)
            for member in members
            if member != "current_timestamp"
        }
        if "current_timestamp" in members:
            columns["current_timestamp"] = pa.array(np.full(len(valid), self._second), mask=~valid)
        return columns

    def _render(self) -> dict[str, pa.Array]:
        second = self._second
        objects: list[Any] = [
            time_object(zone, period(zone, second), second) for zone in self._zones
        ]
        columns = {
            member: pa.array([time[member] for time in objects], kind)
            for member, kind in _TYPES.items()
        }
        return {
            member: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for member, column in columns.items()
        }

    def _at_each_instant(
        self,
        zone_rows: NDArray[np.uint16],
        has_time: NDArray[np.bool_],
        members: Sequence[str],
        seconds: Int64,
    ) -> dict[str, pa.Array]:
        number, periods = self._group(np.where(has_time, zone_rows, 0), seconds)
        unknown = number < 0
        # The number -1 takes the last entry.
        offset = np.array([*(one.offset for one in periods), 0], np.int32)[number]
        is_dst = np.array([*(one.is_dst for one in periods), False])[number]
        columns: dict[str, Any] = {
            "zone": lambda: self._zone_names(zone_rows, unknown),
            "abbr": lambda: pa.array([*(one.abbr for one in periods), None], pa.string()).take(
                pa.array(np.where(unknown, len(periods), number))
            ),
            "utc_offset": lambda: offset_texts(offset, unknown),
            "utc_offset_seconds": lambda: pa.array(offset, mask=unknown),
            "current_time": lambda: iso_texts(seconds, offset, unknown),
            "current_timestamp": lambda: pa.array(seconds, mask=~has_time),
            "is_dst": lambda: pa.array(is_dst, mask=unknown),
        }
        return {member: columns[member]() for member in members}

    def _zone_names(
        self, zone_rows: NDArray[np.uint16], unknown: NDArray[np.bool_]
    ) -> pa.DictionaryArray:
        """Return zone names, as a dictionary of all zones but row 0, the unknown one."""
        numbers = pa.array(zone_rows.astype(np.int32) - 1, mask=unknown)
        return pa.DictionaryArray.from_arrays(numbers, pa.array(self._zones[1:], pa.string()))

    def _group(
        self, zone_rows: NDArray[np.uint16], seconds: Int64
    ) -> tuple[NDArray[np.int32], list[Period]]:
        """Return the periods that occur, and for each row the number of its period, or -1.

        Sorted by zone and instant, the rows of a period lie together: one search finds their end.
        """
        # lexsort sorts by its last key first: zone, then second.
        order = np.lexsort((seconds, zone_rows))
        zones, sorted_seconds = zone_rows[order], seconds[order]
        ends = [*np.flatnonzero(run_starts(zones))[1:], len(zones)]
        numbers = np.full(len(order), -1, np.int32)
        used: list[Period] = []
        begin = 0
        # zone      3 3 3 3 3 3 | 5 5        sorted by zone, then by second
        # period    0 0 0 1 1 1 | 2 2        one search for the end of each
        for end in ends:
            zone = int(zones[begin]) if begin < end else 0
            while begin < end:
                current = self._period(zone, int(sorted_seconds[begin])) if zone else None
                if current is None:
                    break
                stop = begin + int(np.searchsorted(sorted_seconds[begin:end], current.end))
                numbers[begin:stop] = len(used)
                used.append(current)
                begin = stop
            begin = int(end)
        result = np.empty_like(numbers)
        result[order] = numbers
        return result, used

    def _period(self, zone: int, second: int) -> Period | None:
        """Return the period of a zone; it is cached, and two threads can both look it up."""
        starts, periods = self._periods.get(zone, ([], []))
        at = bisect_right(starts, second)
        # The last period that begins at or before the second, unless it ends before.
        if at and second < periods[at - 1].end:
            return periods[at - 1]
        current = period(self._zones[zone], second)
        if current is not None:
            # New lists replace the old ones at once: a thread that reads sees either. A lost
            # update only costs another look-up.
            self._periods[zone] = (
                [*starts[:at], current.start, *starts[at:]],
                [*periods[:at], current, *periods[at:]],
            )
        return current


def iso_texts(seconds: Int64, offset: NDArray[np.int32], unknown: Bools) -> pa.Array:
    """Return ``YYYY-MM-DDTHH:MM:SS±HH:MM`` for n Unix seconds and offsets in seconds.

    The digits are columns of a matrix of bytes: no row is formatted on its own.
    ``offset`` is in whole minutes; null if ``unknown``. RFC 3339, years 1 to 9999.

    numpy's dates do the calendar. Day 19,782 since 1970-01-01 is in month 649 since 1970-01, whose
    first day is 19,754: the year is 649 // 12 + 1970 = 2024, the month 649 % 12 + 1 = 2, the day
    19,782 - 19,754 + 1 = 29. ``//`` rounds down: years before 1970 are right too.
    """
    local = np.where(unknown, 0, seconds + offset)
    days = local // DAY
    of_day = local - days * DAY
    date = days.astype("M8[D]")
    month = date.astype("M8[M]")
    months = month.astype(np.int64)
    text = np.empty((len(seconds), 25), np.uint8)
    _digits(text[:, 0:4], months // 12 + 1970)
    _digits(text[:, 5:7], months % 12 + 1)
    _digits(text[:, 8:10], (date - month.astype("M8[D]")).astype(np.int64) + 1)
    _digits(text[:, 11:13], of_day // 3600)
    _digits(text[:, 14:16], of_day // 60 % 60)
    _digits(text[:, 17:19], of_day % 60)
    for at, separator in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")):
        text[:, at] = ord(separator)
    _put_offset(text[:, 19:], offset)
    return _texts(text, unknown)


def offset_texts(offset: NDArray[np.int32], unknown: Bools) -> pa.Array:
    """Return ``±HH:MM`` for offsets in seconds; null if ``unknown``."""
    text = np.empty((len(offset), 6), np.uint8)
    _put_offset(text, offset)
    return _texts(text, unknown)


def _put_offset(text: NDArray[np.uint8], offset: NDArray[np.int32]) -> None:
    size = np.abs(offset.astype(np.int64)) // 60
    text[:, 0] = np.where(offset < 0, ord("-"), ord("+"))
    _digits(text[:, 1:3], size // 60)
    text[:, 3] = ord(":")
    _digits(text[:, 4:6], size % 60)


def _digits(text: NDArray[np.uint8], number: Int64) -> None:
    # 2026: 6, 2, 0, 2 from right to left.
    for at in reversed(range(text.shape[1])):
        number, digit = np.divmod(number, 10)
        text[:, at] = digit + _ZERO


def _texts(text: NDArray[np.uint8], unknown: Bools) -> pa.Array:
    """Return the rows of a matrix as an Arrow column."""
    count, width = text.shape
    # All texts have one width: 0, 25, 50, ...
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int32)
    validity = pa.array(~unknown).buffers()[1]
    buffers = [validity, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text))]
    return pa.Array.from_buffers(pa.string(), count, buffers)
