"""The addresses of files by country, city and network.

Strategy: addresses are counted by interval id, not by answer. The answers are taken at the end, by
row. Memory is 8 bytes for each interval of the dataset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.contract.gregorian import DAY
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.files import outside
from geolookup.engine import Engine
from geolookup.files.enrich import Step
from geolookup.files.table_files import (
    TIME_COLUMN,
    AddressColumn,
    TableFile,
    TimeColumn,
    open_addresses,
)
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.progress import RowProgress
from geolookup.tables.locate import chunks, clean_column, column_of, locate_chunk
from geolookup.tables.row_tables import row_tables, table_of
from geolookup.tables.take import Taker, is_known, of_rows
from geolookup.tables.times import Clock, Instants, Int64

if TYPE_CHECKING:
    from geolookup.kernel.protocol import State

F64 = NDArray[np.float64]
#: The tables to which intervals refer, in the order of ``take_rows``.
_TABLES = LOCATION, NETWORK
#: The kinds that are counted, each with the members of the answer that identify one.
KINDS = {
    "countries": ("location.country_code", "location.country_name"),
    "cities": ("location.city_name", "location.region_name", "location.country_code"),
    "networks": ("network.asn", "network.asn_organization"),
}
_DAYS, _HOURS = 7, 24
#: Day 0, 1970-01-01, was a Thursday; Monday is 0.
_THURSDAY = 3


@dataclass(frozen=True, slots=True)
class Count:
    """A country, city or network, and the number of addresses in it."""

    members: tuple[Any, ...]  # the values of KINDS, None if unknown
    addresses: int


class Summary:
    """Counts of the addresses of any number of files, located by one engine.

    With ``hours`` the addresses are also counted by local hour.
    """

    def __init__(self, engine: Engine, hours: LocalHours | None = None) -> None:
        self._state = engine.snapshot()
        self.hours = hours
        counts = engine.metadata.counts
        intervals = counts["ipv4_intervals"] + counts["ipv6_intervals"]
        self._addresses_by_interval = np.zeros(intervals, np.int64)
        self.addresses = 0
        self.invalid = 0
        self.private = 0
        self.ipv6 = 0
        #: a line for each file that has malformed lines; their addresses are invalid
        self.malformed: list[str] = []

    @property
    def located(self) -> int:
        """Public addresses about which something is known."""
        intervals = np.flatnonzero(self._addresses_by_interval).astype(np.int32)
        has_answer = is_known(self._state, intervals)
        return int(self._addresses_by_interval[intervals[has_answer]].sum())

    def totals(self) -> dict[str, int]:
        """Return the number of addresses, of each kind and of each family."""
        return {
            "addresses": self.addresses,
            "located": self.located,
            "unknown": self.public - self.located,
            "invalid": self.invalid,
            "private": self.private,
            "ipv4": self.public - self.ipv6,
            "ipv6": self.ipv6,
        }

    @property
    def public(self) -> int:
        """Public addresses, also those about which nothing is known."""
        return self.addresses - self.invalid - self.private

    def add(self, column: Any, *, clean: bool = False, instants: Instants | None = None) -> None:
        """Count a column of addresses; with ``clean``, ``contract.cleaning`` cleans them.

        ``instants`` are the instants of the rows; None: the rows have none.
        """
        begin = 0
        for chunk in chunks(column_of(column)):
            intervals = locate_chunk(self._state, chunk)
            if clean:
                _, intervals = clean_column(self._state, chunk, intervals)
            self._add(intervals.ids, intervals.families)
            if self.hours is not None:
                own = None if instants is None else instants.slice(begin, len(chunk))
                self.hours.add(intervals.ids, own)
            begin += len(chunk)

    def _add(self, intervals: NDArray[np.int32], families: NDArray[np.uint8]) -> None:
        self.addresses += len(intervals)
        self.invalid += int((intervals == INVALID_ID).sum())
        self.private += int((intervals == PRIVATE_ID).sum())
        public = intervals >= 0
        np.add.at(self._addresses_by_interval, intervals[public], 1)
        self.ipv6 += int((families[public] == 6).sum())

    def by_row(self, table: str) -> Int64:
        """Return the addresses of each row of LOCATION or NETWORK; row 0 is the unknown one."""
        dataset = self._state.dataset
        size = len(dataset.locations if table == LOCATION else dataset.networks)
        intervals = np.flatnonzero(self._addresses_by_interval).astype(np.int32)
        # The other table gets an empty column: ``take_rows`` skips it.
        rows = {name: np.empty(len(intervals) * (name == table), np.uint32) for name in _TABLES}
        self._state.take_rows(intervals, *rows.values())
        # A sum of float64 is exact up to 2^53.
        counts = np.bincount(rows[table], self._addresses_by_interval[intervals], size)
        if len(counts) > size:
            raise outside(dataset.path)
        return counts.astype(np.int64)

    def places(self) -> tuple[F64, F64, F64]:
        """Return the coordinates and the addresses of each location, row 0 the unknown one.

        Latitudes and longitudes are degrees, NaN if they are not known.
        """
        columns = row_tables(self._state.dataset)
        latitudes, longitudes = (
            columns.values(LOCATION, name).fill_null(np.nan).to_numpy(zero_copy_only=False)
            for name in ("latitude", "longitude")
        )
        return latitudes, longitudes, self.by_row(LOCATION).astype(np.float64)

    def by(self, kind: str) -> list[Count]:
        """Return the counts of a kind, the largest first, then in order, without the unknown."""
        fields = of_rows(KINDS[kind])
        addresses = self.by_row(table_of(fields[0]))
        rows = pa.array(np.flatnonzero(addresses))
        columns = row_tables(self._state.dataset)
        members = [without_dictionary(columns.by_row(field).take(rows)) for field in fields]
        return _group(members, pa.array(addresses).take(rows))


def _group(members: list[pa.Array], addresses: pa.Array) -> list[Count]:
    """Return the counts of rows with equal members; rows without the first member are skipped."""
    keys = [str(at) for at in range(len(members))]
    table = pa.table([*members, addresses], [*keys, "addresses"])
    table = table.filter(pc.is_valid(table["0"]))
    table = table.group_by(keys).aggregate([("addresses", "sum")])
    order = [("addresses_sum", "descending"), *((key, "ascending") for key in keys)]
    ordered = table.sort_by(order)
    rows = zip(*(ordered[name].to_pylist() for name in [*keys, "addresses_sum"]), strict=True)
    return [Count(row[:-1], row[-1]) for row in rows]


def count_files(
    summary: Summary,
    files: Iterable[TableFile],
    column: AddressColumn,
    times: TimeColumn | None = None,
) -> None:
    """Add the addresses of files as ``count_file`` does, and show the progress."""
    progress = RowProgress()
    try:
        for file in files:
            count_file(
                summary, file, column, lambda done: progress.show(summary.addresses, done), times
            )
    finally:
        progress.clear()


def count_file(
    summary: Summary,
    file: TableFile,
    column: AddressColumn,
    step: Step,
    times: TimeColumn | None = None,
) -> None:
    """Add the addresses of a file; raises TableFileError for a file that cannot be read.

    ``times`` is the column of the rows' instants; None: they are not read.
    """
    columns = {times.name: TIME_COLUMN} if times is not None and times.name else {}
    of_log = times is not None and not columns
    with open_addresses(file, column, columns, times=of_log) as table:
        before = summary.addresses
        for batch in table.rows.batches:
            begin = summary.addresses - before
            instants = None if times is None else table.instants(batch, times, begin)
            summary.add(batch.column(0), clean=column.clean, instants=instants)
            step(table.fraction(summary.addresses - before))
        summary.malformed += table.malformed_notes()


class LocalHours:
    """Counts of public addresses by local weekday and hour.

    ``counts`` has shape (7, 24): Monday first, hours from midnight.
    """

    def __init__(self, state: State) -> None:
        clock = Clock(row_tables(state.dataset).zones, 0)  # each row has its own instant
        self._taker = Taker(state, of_rows(("time.utc_offset_seconds",)), clock)
        self.counts = np.zeros((_DAYS, _HOURS), np.int64)
        #: public addresses without a time in their row, or without a known time zone
        self.without_time = 0
        self.without_zone = 0

    def add(self, intervals: NDArray[np.int32], instants: Instants | None) -> None:
        """Count n rows by their interval ids, those from 0 on; None: no row has an instant."""
        public = intervals >= 0
        if instants is None:
            self.without_time += int(public.sum())
            return
        timed = public & instants.is_valid
        self.without_time += int((public & ~timed).sum())
        seconds = instants.seconds[timed]
        offsets, has_offset = self._offsets(intervals[timed], seconds)
        self.without_zone += int((~has_offset).sum())
        self.counts += _counts(seconds[has_offset] + offsets[has_offset])

    def _offsets(
        self, intervals: NDArray[np.int32], seconds: Int64
    ) -> tuple[Int64, NDArray[np.bool_]]:
        """Return the seconds east of UTC at n intervals and instants, and whether each is known."""
        all_valid = np.ones(len(seconds), bool)
        (offsets,) = self._taker.take(intervals, Instants(seconds, all_valid))
        has_offset = offsets.is_valid().to_numpy(zero_copy_only=False)
        return offsets.fill_null(0).to_numpy().astype(np.int64), has_offset


def _counts(local: Int64) -> Int64:
    """Return the counts of local times, in seconds since 1970-01-01 without an offset."""
    # Day 0 is 3, Thursday; // and % round down, so days before 1970 are right too.
    weekday = (local // DAY + _THURSDAY) % _DAYS
    hour = local // 3600 % _HOURS
    # One number for weekday and hour, 0 to 167.
    counted = np.bincount(weekday * _HOURS + hour, minlength=_DAYS * _HOURS)
    return counted.reshape(_DAYS, _HOURS)
