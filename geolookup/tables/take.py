"""Interval ids to columns of answers, and the fields of these columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import (
    COUNTRY,
    ERROR_CODE,
    FIELDS,
    LOCATION,
    NETWORK,
    OWN,
    ZONE,
    Field,
)
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset.arrow_files import array_of
from geolookup.dataset.files import outside
from geolookup.tables.row_tables import ROW_MAJOR_FROM, row_tables
from geolookup.tables.times import Clock, Instants

if TYPE_CHECKING:
    from geolookup.kernel import State

Int32 = NDArray[np.int32]
UInt32 = NDArray[np.uint32]

#: Fields of the address itself: an interval id does not decide them.
OF_ADDRESS = (*(field for field in FIELDS if not field.group), ERROR_CODE)


def of_table(
    fields: tuple[object, ...], call: str = "enrich", schema: Schema = CONTRACT
) -> tuple[Field, ...]:
    """Return the fields of columns, groups expanded, without repetition, in this order.

    ``fields`` are names or one list of names; none: all fields of the contract but ``ip`` and
    ``error_code``. ``call`` is the call or option, for messages. Raises ValueError for a name that
    no field of ``schema`` has.
    """
    if not fields:
        return tuple(field for field in FIELDS if field.path != "ip")
    return resolve_fields(names_of(fields), schema.columns, call)


def is_known(state: State, ids: Int32) -> NDArray[np.bool_]:
    """Return for n interval ids whether anything is known: location or network is not row 0."""
    locations, networks = np.empty(len(ids), np.uint32), np.empty(len(ids), np.uint32)
    state.take_rows(ids, locations, networks)
    has_answer: NDArray[np.bool_] = (locations != 0) | (networks != 0)
    return has_answer


class Taker:
    """Takes columns of some fields for interval ids, a chunk at a time."""

    def __init__(self, state: State, fields: Sequence[Field], clock: Clock) -> None:
        self._state = state
        self._tables = row_tables(state.dataset)
        self._fields = fields
        self._clock = clock
        self._times = [field.member for field in fields if field.group == "time"]
        #: the fields by table
        self._of_table: dict[str, list[Field]] = {LOCATION: []} if self._times else {}
        for field in fields:
            if field.group != "time":
                self._of_table.setdefault(field.table, []).append(field)
        #: whether a field can be known for private addresses
        self.needs_private = any(field.private for field in fields)

    def take(
        self, ids: Int32, instants: Instants | None = None, own_ids: Int32 | None = None
    ) -> list[pa.Array]:
        """Return a column per field for n interval ids; null if an id is below 0.

        ``instants`` are the n instants of the ids; None: the instant of the clock. ``own_ids`` are
        the ids of private addresses too, for own columns; None: the same.
        """
        try:
            columns = self._stored(ids, ids if own_ids is None else own_ids)
        except IndexError:
            raise outside(self._state.dataset.path) from None
        times = self._clock.take(columns.get(ZONE), ids >= 0, self._times, instants)
        return [
            times[field.member] if field.group == "time" else columns[field.path]
            for field in self._fields
        ]

    def _stored(self, ids: Int32, own_ids: Int32) -> dict[str, pa.Array]:
        """Return the columns of stored fields by path, and ZONE, the rows of zones."""
        # ``take_rows`` skips the table of an empty column.
        has_location = not {LOCATION, COUNTRY}.isdisjoint(self._of_table)
        locations = np.empty(len(ids) * has_location, np.uint32)
        networks = np.empty(len(ids) * (NETWORK in self._of_table), np.uint32)
        self._state.take_rows(ids, locations, networks)
        columns = self._of_location(locations) if has_location else {}
        if NETWORK in self._of_table:
            columns |= self._take(NETWORK, networks)
        if OWN in self._of_table:
            rows = np.empty(len(ids), np.uint32)
            self._state.take_own_rows(own_ids, rows)
            columns |= self._take(OWN, rows)
        return columns

    def _of_location(self, rows: UInt32) -> dict[str, pa.Array]:
        """Return the columns of locations and of their countries, and ZONE."""
        countries = self._of_table.get(COUNTRY, [])
        few = len(countries) < ROW_MAJOR_FROM
        links = [ZONE] * bool(self._times) + [COUNTRY] * (not few)
        columns = self._take(LOCATION, rows, links)
        if few:
            indices = array_of(rows)
            return columns | {
                field.path: self._tables.by_row(field).take(indices) for field in countries
            }
        return columns | self._take(COUNTRY, columns[COUNTRY].to_numpy().astype(np.uint32))

    def _take(self, table: str, rows: UInt32, links: Sequence[str] = ()) -> dict[str, pa.Array]:
        """Return the columns of a table by path, and its links, for n rows."""
        paths = {field.column: field.path for field in self._of_table.get(table, ())}
        taken = self._tables.take(table, rows, [*paths, *links])
        return {paths.get(column, column): array for column, array in taken.items()}
