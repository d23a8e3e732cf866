"""The time object of whole columns: one instant for all rows, or one for each.

Strategy: with one instant, every zone is rendered once, and rows take the result by zone. With many
instants, a chunk is sorted by zone and instant, and each of its periods of constant offset is
looked up once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import FIELDS
from geolookup.contract.localtime import EARLIEST, LATEST, Period
from geolookup.dataset.arrow_files import array_of, type_of
from geolookup.dataset.runs import run_starts
from geolookup.kernel import period
from geolookup.tables.row_notes import RowNote

#: Ticks of each unit of timestamps.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
Int64 = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: The attributes of ``Period`` by the member that has their values.
_OF_PERIOD = {"utc_offset_seconds": "offset", **{n: n for n in ("abbr", "utc_offset", "is_dst")}}
_CONVERT = (
    "convert it: pandas.to_datetime(column, utc=True), column.str.to_datetime(time_zone='UTC') of "
    "Polars, or column::timestamptz of DuckDB"
)
_TYPES = {field.member: type_of(field) for field in FIELDS if field.group == "time"}


@dataclass(frozen=True, slots=True)
class Instants:
    """n whole Unix seconds, EARLIEST <= second < LATEST; 0 if the instant is null."""

    seconds: NDArray[np.int64]
    is_valid: Bools


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
    raise TypeError(f"{problem}; {_CONVERT}")


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
        valid: Bools,
        members: Sequence[str],
        instants: Instants | None,
    ) -> dict[str, pa.Array]:
        """Return columns of n rows for members of the time object; null if ``valid`` is false.

        ``instants`` are the n instants of the rows; a null instant gives null. None: one instant.
        """
        if zone_rows is None or not members:
            return {}
        if instants is not None:
            has_time = valid & instants.is_valid
            return self._columns(zone_rows.to_numpy(), has_time, members, instants.seconds)
        if self._rendered is None:
            self._rendered = self._of_zones()
        own = [member for member in members if member != "current_timestamp"]
        columns = {member: self._rendered[member].take(zone_rows) for member in own}
        if len(own) < len(members):  # also of rows without a zone
            columns["current_timestamp"] = array_of(np.full(len(valid), self._second), valid)
        return columns

    def _of_zones(self) -> dict[str, pa.Array]:
        """Return columns of all members with a row for each zone; texts are dictionaries."""
        count = len(self._zones)
        seconds, every = np.full(count, self._second), np.ones(count, bool)
        columns = self._columns(np.arange(count, dtype=np.uint16), every, [*_TYPES], seconds)
        return {
            member: column.dictionary_encode() if pa.types.is_string(column.type) else column
            for member, column in columns.items()
        }

    def _columns(
        self, zone_rows: NDArray[np.uint16], has_time: Bools, members: Sequence[str], seconds: Int64
    ) -> dict[str, pa.Array]:
        numbers, periods = self._group(np.where(has_time, zone_rows, 0), seconds)
        # The number -1 takes the last entry, null.
        places = array_of(np.where(numbers < 0, len(periods), numbers))

        def of_period(member: str) -> pa.Array:
            values = [getattr(one, _OF_PERIOD[member]) for one in periods]
            return pa.array([*values, None], _TYPES[member]).take(places)

        def zone() -> pa.Array:
            # A dictionary of all zones but row 0, the unknown one.
            names = pa.array(self._zones[1:], pa.string())
            indices = array_of(zone_rows.astype(np.int32) - 1, numbers >= 0)
            return pa.DictionaryArray.from_arrays(indices, names)

        def current_time() -> pa.Array:
            # 2026-11-20 00:23:07 -> 2026-11-20T00:23:07-08:00
            offset = of_period("utc_offset_seconds").cast(pa.int64())
            local = pc.add(array_of(seconds), offset).cast(pa.timestamp("s")).cast(pa.string())
            texts = pc.binary_replace_slice(local, 10, 11, "T")
            return pc.binary_join_element_wise(texts, of_period("utc_offset"), "")

        columns: dict[str, Callable[[], pa.Array]] = {
            **{member: partial(of_period, member) for member in _OF_PERIOD},
            "zone": zone,
            "current_time": current_time,
            "current_timestamp": lambda: array_of(seconds, has_time),
        }
        return {member: columns[member]() for member in members}

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
