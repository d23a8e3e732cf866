"""The addresses of files by country, city and network, or by other fields.

Strategy: addresses are counted by interval id, not by answer. The answers are taken at the end, by
row. Memory is 8 bytes for each interval of the dataset, 16 with own columns of private addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import LOCATION, NETWORK, OWN, Field
from geolookup.dataset.arrow_files import without_dictionary
from geolookup.dataset.files import outside
from geolookup.dataset.intervals import F64
from geolookup.engine import Engine
from geolookup.files.logs import LOG_FIELDS, STATUS, TIME
from geolookup.files.refused import InvalidRows
from geolookup.files.row_streams import Rows, column_at
from geolookup.files.table_files import (
    TIME_COLUMN,
    AddressColumn,
    TableFile,
    TimeColumn,
    open_addresses,
)
from geolookup.files.timestamps import unix_seconds
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.kernel.lookups import state_of
from geolookup.progress import Progress
from geolookup.tables.dictionaries import in_one
from geolookup.tables.locate import clean_column, column_of, locate_chunk, with_private
from geolookup.tables.row_tables import row_tables, table_of
from geolookup.tables.take import is_known, of_table
from geolookup.tables.times import Bools, Instants, Int64, instants_of

if TYPE_CHECKING:
    from geolookup.files.traffic import Traffic

#: The kinds that are counted, each with the members of the answer that identify one.
KINDS = {
    "countries": ("location.country_code", "location.country_name"),
    "cities": ("location.city_name", "location.region_name", "location.country_code"),
    "networks": ("network.asn", "network.asn_organization"),
}


@dataclass(frozen=True, slots=True)
class Count:
    """Values, such as a country, city or network, and the number of addresses with them."""

    members: tuple[Any, ...]  # None if unknown
    addresses: int


class Summary:
    """Counts of the addresses of any number of files, located by one engine.

    ``traffic`` counts them by time, status and kind of network too. ``fields`` are stored fields
    that ``by_fields`` is asked about.
    """

    def __init__(
        self, engine: Engine, traffic: Traffic | None = None, fields: Sequence[Field] = ()
    ) -> None:
        self._state = state_of(engine)
        self.traffic = traffic
        dataset = self._state.dataset
        intervals = len(dataset.ipv4_starts) + len(dataset.ipv6_highs)
        self._has_private = any(field.private for field in fields)
        #: addresses by interval: public ones, and private ones if a field may be known for them
        self._counts = np.zeros((1 + self._has_private, intervals), np.int64)
        self.addresses = 0
        self.invalid = 0
        self.private = 0
        self.ipv6 = 0
        #: lines about rows that were not read; their addresses are invalid
        self.notes: list[str] = []

    @property
    def located(self) -> int:
        """Public addresses about which something is known."""
        intervals = np.flatnonzero(self._counts[0]).astype(np.int32)
        return int(self._counts[0][intervals[is_known(self._state, intervals)]].sum())

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

    def add(
        self,
        column: Any,
        *,
        clean: bool = False,
        instants: Instants | None = None,
        statuses: pa.Array | None = None,
    ) -> Bools:
        """Count a column of n addresses; return which are invalid.

        With ``clean``, ``contract.cleaning`` cleans them. ``instants`` and ``statuses`` are the
        instants and status codes of the rows; None: the rows have none.
        """
        addresses = in_one(column_of(column))
        intervals = locate_chunk(self._state, addresses)
        if clean:
            addresses, intervals = clean_column(self._state, addresses, intervals)
        ids = intervals.ids
        is_public, is_private = ids >= 0, ids == PRIVATE_ID
        is_invalid: Bools = ids == INVALID_ID
        self.addresses += len(ids)
        self.invalid += int(is_invalid.sum())
        self.private += int(is_private.sum())
        self.ipv6 += int((intervals.families[is_public] == 6).sum())
        np.add.at(self._counts[0], ids[is_public], 1)
        if self._has_private:
            every = with_private(self._state, addresses, intervals)
            np.add.at(self._counts[1], every[is_private], 1)
        if self.traffic is not None:
            self.traffic.add(addresses, ids, instants, statuses)
        return is_invalid

    def by_row(self, table: str) -> Int64:
        """Return the addresses of each row of a table; row 0 is the unknown one.

        Private addresses count in OWN, if a field is known for them.
        """
        by_interval = self._counts.sum(axis=0) if table == OWN else self._counts[0]
        intervals = np.flatnonzero(by_interval).astype(np.int32)
        rows, none = np.empty(len(intervals), np.uint32), np.empty(0, np.uint32)
        if table == OWN:
            self._state.take_own_rows(intervals, rows)
        else:
            # ``take_rows`` skips the table of an empty column.
            columns = {LOCATION: none, NETWORK: none, table: rows}
            self._state.take_rows(intervals, columns[LOCATION], columns[NETWORK])
        size = self._state.dataset.row_counts()[table]
        # A sum of float64 is exact up to 2^53.
        counts = np.bincount(rows, by_interval[intervals], size)
        if len(counts) > size:
            raise outside(self._state.dataset.path)
        return counts.astype(np.int64)

    def places(self) -> tuple[F64, F64, F64]:
        """Return the coordinates in degrees, NaN if unknown, and addresses of each location."""
        columns = row_tables(self._state.dataset)
        latitudes, longitudes = (
            columns.values(LOCATION, name).fill_null(np.nan).to_numpy(zero_copy_only=False)
            for name in ("latitude", "longitude")
        )
        return latitudes, longitudes, self.by_row(LOCATION).astype(np.float64)

    def by(self, kind: str) -> list[Count]:
        """Return the counts of a kind, the largest first, then in order, without the unknown."""
        return self.by_fields(of_table(KINDS[kind]))

    def by_fields(self, fields: Sequence[Field]) -> list[Count]:
        """Return the counts by fields of one table, in the order of ``by``."""
        addresses = self.by_row(table_of(fields[0]))
        rows = pa.array(np.flatnonzero(addresses))
        columns = row_tables(self._state.dataset)
        members = [_plain(columns.by_row(field).take(rows)) for field in fields]
        return _group(members, pa.array(addresses).take(rows))

    def counted(self, field: Field) -> int:
        """Return the addresses for which a field may be known: public ones, or private ones too."""
        return self.public + (self.private if field.private else 0)


def _plain(column: pa.Array) -> pa.Array:
    """Return values that can be grouped; a list is a text of its items."""
    plain = without_dictionary(column)
    return pc.binary_join(plain, ", ") if pa.types.is_list(plain.type) else plain


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
    """Add the addresses of files, and show the progress.

    ``times`` is the column of the rows' instants; None: they and status codes are not read. Raises
    TableFileError for a file that cannot be read.
    """
    progress = Progress()
    columns = {times.name: TIME_COLUMN} if times is not None and times.name else {}
    log_fields = () if times is None else LOG_FIELDS
    for file in files:
        opened = open_addresses(file, column, columns, log_fields)
        with opened as rows, progress.stage("counting addresses"):
            _count_rows(summary, rows, column, times, progress)


def _count_rows(
    summary: Summary,
    rows: Rows,
    column: AddressColumn,
    times: TimeColumn | None,
    progress: Progress,
) -> None:
    invalid = InvalidRows(rows.stream.name, column.name, column.clean, rows.is_log)
    before = summary.addresses
    own = {*rows.schema.names} & {*LOG_FIELDS} if rows.is_log and times is not None else set()
    time_name = times.name if times is not None else None
    time_name = time_name or (TIME if TIME in own else None)

    def columns(batch: pa.RecordBatch) -> tuple[pa.Array, Instants | None, pa.Array | None]:
        instants = None
        if times is not None and time_name is not None:
            instants = instants_of(unix_seconds(column_at(batch, time_name), times.zone))
        statuses = batch.column(STATUS) if STATUS in own else None
        return column_at(batch, column.name), instants, statuses

    for addresses, instants, statuses in rows.run(columns):
        is_invalid = summary.add(
            addresses, clean=column.clean, instants=instants, statuses=statuses
        )
        invalid.add(addresses, pa.array(is_invalid))
        progress.show(summary.addresses, rows.fraction(summary.addresses - before))
    summary.notes += [*invalid.notes(), *rows.notes()]
