"""The time object of whole columns: one instant for all rows, or one for each.

Strategy: for one instant every zone is rendered once, and rows take the result
by zone. For many instants a chunk is sorted by zone and instant, and each
period of constant offset that occurs in it is looked up once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import FIELDS
from geolookup.contract.localtime import Period, period, time_object
from geolookup.dataset.arrow_files import type_of
from geolookup.tables.instants import Instants, iso_texts, offset_texts

Int64 = NDArray[np.int64]
_TYPES = {field.member: type_of(field) for field in FIELDS if field.group == "time"}


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
        """Return the given members, n rows each; null where ``valid`` is false.

        With ``instants`` each row has its own, and is null where that is null.
        """
        if zone_rows is None or not members:
            return {}
        if instants is None:
            return self._at_one_instant(zone_rows, valid, members)
        stated = valid & instants.stated
        return self._at_each_instant(zone_rows.to_numpy(), stated, members, instants.seconds)

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
        objects: list[Any] = [time_object(zone, self._second) for zone in self._zones]
        columns = {
            member: pa.array([each[member] for each in objects], kind)
            for member, kind in _TYPES.items()
        }
        return {
            member: each.dictionary_encode() if pa.types.is_string(each.type) else each
            for member, each in columns.items()
        }

    def _at_each_instant(
        self,
        zone_rows: NDArray[np.uint16],
        stated: NDArray[np.bool_],
        members: Sequence[str],
        seconds: Int64,
    ) -> dict[str, pa.Array]:
        number, periods = self._group(np.where(stated, zone_rows, 0), seconds)
        unknown = number < 0
        offset = np.array([*(each.offset for each in periods), 0], np.int32)[number]
        is_dst = np.array([*(each.is_dst for each in periods), False])[number]
        made: dict[str, Any] = {
            "zone": lambda: self._zone_names(zone_rows, unknown),
            "abbr": lambda: pa.array([*(each.abbr for each in periods), None], pa.string()).take(
                pa.array(np.where(unknown, len(periods), number))
            ),
            "utc_offset": lambda: offset_texts(offset, unknown),
            "utc_offset_seconds": lambda: pa.array(offset, mask=unknown),
            "current_time": lambda: iso_texts(seconds, offset, unknown),
            "current_timestamp": lambda: pa.array(seconds, mask=~stated),
            "is_dst": lambda: pa.array(is_dst, mask=unknown),
        }
        return {member: made[member]() for member in members}

    def _zone_names(
        self, zone_rows: NDArray[np.uint16], unknown: NDArray[np.bool_]
    ) -> pa.DictionaryArray:
        """Return zone names, encoded with a dictionary of all zones but row 0, the unknown one."""
        numbers = pa.array(zone_rows.astype(np.int32) - 1, mask=unknown)
        return pa.DictionaryArray.from_arrays(numbers, pa.array(self._zones[1:], pa.string()))

    def _group(
        self, zone_rows: NDArray[np.uint16], seconds: Int64
    ) -> tuple[NDArray[np.int32], list[Period]]:
        """Return the periods that occur, and for each row the number of its period, or -1."""
        order = np.lexsort((seconds, zone_rows))
        zones, sorted_seconds = zone_rows[order], seconds[order]
        ends = [*np.flatnonzero(np.diff(zones)) + 1, len(zones)]
        numbers = np.full(len(order), -1, np.int32)
        used: list[Period] = []
        begin = 0
        for end in ends:
            zone = int(zones[begin]) if begin < end else 0
            while begin < end:
                found = self._period(zone, int(sorted_seconds[begin])) if zone else None
                if found is None:
                    break
                stop = begin + int(np.searchsorted(sorted_seconds[begin:end], found.end))
                numbers[begin:stop] = len(used)
                used.append(found)
                begin = stop
            begin = int(end)
        result = np.empty_like(numbers)
        result[order] = numbers
        return result, used

    def _period(self, zone: int, second: int) -> Period | None:
        """Return the period of a zone; it is cached, and two threads may both look it up."""
        starts, periods = self._periods.get(zone, ([], []))
        at = bisect_right(starts, second)
        if at and second < periods[at - 1].end:
            return periods[at - 1]
        name = self._zones[zone]
        found = period(name, second) if name else None
        if found is not None:
            self._periods[zone] = (
                [*starts[:at], found.start, *starts[at:]],
                [*periods[:at], found, *periods[at:]],
            )
        return found
