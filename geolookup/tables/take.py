"""Interval ids to columns of the answer, and the fields of these columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
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
from geolookup.contract.localtime import instant
from geolookup.contract.paths import names_of, resolve_fields
from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset.arrow_files import array_of
from geolookup.dataset.files import outside
from geolookup.tables.locate import column_of
from geolookup.tables.row_tables import TableColumns, row_tables, table_of
from geolookup.tables.times import Clock, Instants

if TYPE_CHECKING:
    from geolookup.contract.types import ColumnNames
    from geolookup.kernel.protocol import State

Int32 = NDArray[np.int32]
UInt32 = NDArray[np.uint32]
#: The number of columns of a table from which the row-major copy is faster.
_ROW_MAJOR_FROM = 3

#: Fields of the address itself: an interval id does not decide them.
OF_ADDRESS = (*(field for field in FIELDS if not field.group), ERROR_CODE)
OF_ROW = tuple(field for field in FIELDS if field not in OF_ADDRESS)


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


def of_rows(
    fields: tuple[object, ...], call: str = "take", schema: Schema = CONTRACT
) -> tuple[Field, ...]:
    """Return the fields of columns that interval ids decide, as ``of_table`` does."""
    return resolve_fields(names_of(fields), (*OF_ROW, *schema.own), call) if fields else OF_ROW


def take(state: State, ids: Any, *fields: ColumnNames, at: Any = None) -> pa.RecordBatch:
    """Return columns of answers for n interval ids, as an Arrow record batch of n rows.

    ``ids`` is a column of the integers that ``locate`` returns; null and ids below 0 give nulls.
    ``fields`` are as in ``Engine.enrich``, without ``ip``, ``ip_type`` and ``error_code``; none:
    all of these. ``at`` is the instant of local times; None: now. Raises ValueError for an unknown
    field, IndexError for an id that the dataset does not have. Own columns of private addresses
    are null here, unlike in ``Engine.enrich``: these addresses have no interval id.
    """
    names = of_rows(fields, schema=state.dataset.schema)
    plain = _plain(ids)
    clock = Clock(row_tables(state.dataset).zones, instant(at))
    columns = Taker(state, names, clock).take(plain)
    return pa.record_batch(columns, names=[field.name for field in names])


def _plain(ids: Any) -> Int32:
    """Return interval ids as numpy, -1 if they are null or below 0."""
    array = column_of(ids).combine_chunks()
    if not (pa.types.is_integer(array.type) or pa.types.is_null(array.type)):
        raise TypeError(f"take: ids are {array.type}, not integers; pass the result of locate")
    # -2 (private) becomes -1 too: both have no row.
    if not pa.types.is_unsigned_integer(array.type):
        array = pc.max_element_wise(array.cast(pa.int64()), -1)  # skips nulls: they become -1
    try:
        plain: Int32 = array.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        raise IndexError("take: an interval id does not exist in this dataset") from None
    return np.ascontiguousarray(plain)


def is_known(state: State, ids: Int32) -> NDArray[np.bool_]:
    """Return for n interval ids whether anything is known: location or network is not row 0."""
    locations, networks = np.empty(len(ids), np.uint32), np.empty(len(ids), np.uint32)
    state.take_rows(ids, locations, networks)
    has_answer: NDArray[np.bool_] = (locations != 0) | (networks != 0)
    return has_answer


class Taker:
    """Takes some fields for interval ids, a chunk at a time."""

    def __init__(self, state: State, fields: Sequence[Field], clock: Clock) -> None:
        self._rows = RowFinder(state, fields)
        self._columns = ColumnTaker(row_tables(state.dataset), fields, clock)
        self._path = state.dataset.path
        #: whether a field can be known for private addresses
        self.needs_private = self._rows.needs_private

    def take(
        self, ids: Int32, instants: Instants | None = None, own_ids: Int32 | None = None
    ) -> list[pa.Array]:
        """Return a column per field for n interval ids; null if an id is below 0.

        ``instants`` are the n instants of the ids; None: the instant of the clock. ``own_ids`` are
        the ids for own columns, from ``locate.with_private``; None: the same.
        """
        rows = self._rows.find(ids, own_ids)
        try:
            return self._columns.take(rows, ids >= 0, instants)
        except IndexError:
            raise outside(self._path) from None


class RowFinder:
    """Finds the rows of interval ids in the row tables that some fields need."""

    def __init__(self, state: State, fields: Sequence[Field]) -> None:
        self._state = state
        #: the row tables that a field needs
        self.tables = tables_of(fields)
        #: whether a field can be known for private addresses
        self.needs_private = any(field.private for field in fields)

    def find(self, ids: Int32, own_ids: Int32 | None = None) -> dict[str, UInt32]:
        """Return by table the rows of n interval ids; see ``Taker.take``."""
        rows = {table: np.empty(len(ids), np.uint32) for table in self.tables}
        # Empty: ``take_rows`` skips a table that no field needs.
        none = np.empty(0, np.uint32)
        self._state.take_rows(ids, rows.get(LOCATION, none), rows.get(NETWORK, none))
        if OWN in rows:
            self._state.take_own_rows(ids if own_ids is None else own_ids, rows[OWN])
        return rows


def tables_of(fields: Iterable[Field]) -> set[str]:
    """Return the row tables that columns of these fields need."""
    return {LOCATION if field.group == "time" else table_of(field) for field in fields}


class ColumnTaker:
    """Takes some fields for rows of the row tables, of one dataset or of several together."""

    def __init__(self, tables: TableColumns, fields: Sequence[Field], clock: Clock) -> None:
        self._tables = tables
        self._fields = fields
        self._clock = clock
        self._times = [field.member for field in fields if field.group == "time"]

    def take(
        self, rows: Mapping[str, UInt32], valid: NDArray[np.bool_], instants: Instants | None
    ) -> list[pa.Array]:
        """Return a column per field for n rows by table; times are null if ``valid`` is false.

        ``instants`` are as in ``Taker.take``. Raises IndexError for a row outside its table.
        """
        columns: dict[str, pa.Array] = {}
        for table, numbers in rows.items():
            if table == LOCATION:
                columns |= self._of_location(numbers)
            else:
                columns |= self._of_table(table, numbers, self._columns(table))
        times = self._clock.take(columns.get(ZONE), valid, self._times, instants)
        return [
            times[field.member] if field.group == "time" else columns[field.path]
            for field in self._fields
        ]

    def _columns(self, table: str) -> dict[str, str]:
        """Return the paths of the fields of a table, by column."""
        return {field.column: field.path for field in self._fields if field.table == table}

    def _of_location(self, rows: UInt32) -> dict[str, pa.Array]:
        """Return the columns of locations and of their countries, and ``zone``."""
        of_country = self._columns(COUNTRY)
        texts = {}
        if len(of_country) < _ROW_MAJOR_FROM and self._tables.has_short_links:
            # One pass to the country and to its text; numbers and lists take two.
            texts = {
                path: self._tables.take_country(column, rows)
                for column, path in of_country.items()
                if pa.types.is_dictionary(self._tables.values(COUNTRY, column).type)
            }
            of_country = {column: path for column, path in of_country.items() if path not in texts}
        links = {COUNTRY: COUNTRY} if of_country else {}
        links |= {ZONE: ZONE} if self._times else {}
        columns = self._of_table(LOCATION, rows, self._columns(LOCATION) | links)
        if of_country:
            # A location has the row of its country: a country takes two steps.
            countries = columns[COUNTRY].to_numpy().astype(np.uint32)
            columns |= self._of_table(COUNTRY, countries, of_country)
        return columns | texts

    def _of_table(self, table: str, rows: UInt32, names: dict[str, str]) -> dict[str, pa.Array]:
        """Return columns of a table for n rows; ``names`` maps columns to new names."""
        together = [column for column in self._tables.row_major_columns(table) if column in names]
        arrays: dict[str, pa.Array] = {}
        # One visit of a row for all its columns, instead of one visit for each column.
        if len(together) >= _ROW_MAJOR_FROM:
            arrays = self._tables.row_major(table).take(rows, together)
        indices = array_of(rows)
        for column in names:
            if column not in arrays:
                arrays[column] = self._tables.values(table, column).take(indices)
        return {name: arrays[column] for column, name in names.items()}
