"""A column of addresses to columns of answers: chunk by chunk, on all cores, in order.

Strategy: one thread locates and takes a chunk while the chunk is in the cache of its core. The
kernel and Arrow release the interpreter lock. The number of pending chunks is bounded: memory does
not grow with the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.address import canonical, parse
from geolookup.contract.fields import Field
from geolookup.contract.localtime import instant
from geolookup.contract.types import OnInvalid
from geolookup.dataset.arrow_files import array_of
from geolookup.errors import AddressError, InvalidAddressError, PrivateAddressError
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.parallel import cores, in_order
from geolookup.tables.inputs import Inputs, for_each
from geolookup.tables.locate import (
    AddressIntervals,
    chunks,
    clean_column,
    column_of,
    locate_chunk,
    with_private,
)
from geolookup.tables.row_notes import RowNote
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import OF_ADDRESS, Int32, Taker, is_known
from geolookup.tables.times import Clock, Instants, instants_of

if TYPE_CHECKING:
    from geolookup.kernel import State

_ERRORS: dict[int, type[AddressError]] = {
    INVALID_ID: InvalidAddressError,
    PRIVATE_ID: PrivateAddressError,
}
#: The number of each row in the whole table.
RowNumbers = Sequence[int] | NDArray[np.int64]
_FAMILIES = pa.array(["ipv4", "ipv6"])
_TEXTS = Inputs(pa.string())


class Enricher:
    """Makes columns of fields for any number of columns of addresses.

    ``at`` is the instant of rows without their own: Unix seconds, an aware
    datetime, or None for now. ``add_known`` adds a last column ``known``: ``is_known``.
    Raises ValueError and TypeError for invalid options, DatasetError for a damaged dataset.
    """

    def __init__(
        self,
        state: State,
        fields: tuple[Field, ...],
        *,
        prefix: str = "",
        on_invalid: OnInvalid = "null",
        at: Any = None,
        clean: bool = False,
        add_known: bool = False,
        threads: int | None = None,
    ) -> None:
        if on_invalid not in ("null", "raise"):
            raise ValueError(f"enrich: on_invalid={on_invalid!r}; pass 'null' or 'raise'")
        if threads is not None and threads < 1:
            raise ValueError(f"enrich: threads={threads}; pass 1 or more")
        self._state = state
        self._fields = fields
        self._clean = clean
        self._add_known = add_known
        self._strict = on_invalid == "raise"
        threads = threads or cores()
        self._threads = threads if threads > 1 else 0  # 0: in the caller's, without a pool
        clock = Clock(row_tables(state.dataset).zones, instant(at))
        stored = [field for field in fields if field not in OF_ADDRESS]
        self._taker = Taker(state, stored, clock)
        #: the names of the new columns, in order
        self.names = [f"{prefix}{field.name}" for field in fields] + ["known"] * add_known

    def schema(self, types: Inputs = _TEXTS) -> pa.Schema:
        """Return the schema of the new columns for inputs of these types.

        Raises TypeError for a type that holds no addresses, or no instants.
        """
        instants = None if types.instants is None else empty_array(types.instants)
        return self._enrich((0, Inputs(empty_array(types.addresses), instants))).schema

    def table(self, inputs: Inputs) -> pa.Table:
        """Return the new columns for whole columns."""
        columns = chunked(inputs)
        return pa.Table.from_batches(list(self.batches([columns])), self.schema(types_of(columns)))

    def batches(self, columns: Iterable[Inputs]) -> Iterator[pa.RecordBatch]:
        """Yield the new columns for a sequence of columns, in order, at most CHUNK rows each."""
        with in_order(self._enrich, _numbered(map(chunked, columns)), self._threads) as batches:
            yield from batches

    def _enrich(self, numbered: tuple[int, Inputs]) -> pa.RecordBatch:
        begin, part = numbered
        instants = None if part.instants is None else instants_of(part.instants, begin)
        numbers = range(begin, begin + len(part.addresses))
        return self.batch(part.addresses, instants, numbers)

    def batch(
        self, addresses: pa.Array, instants: Instants | None = None, numbers: RowNumbers = ()
    ) -> pa.RecordBatch:
        """Return the new columns for an array; ``numbers`` are its rows, for messages."""
        addresses, intervals = self._located(addresses)
        if self._strict:
            refuse(addresses, intervals, numbers)
        answers = self._taker.take(intervals.ids, instants, self._own_ids(addresses, intervals))
        columns = in_order_of(self._fields, answers, addresses, intervals)
        if self._add_known:
            columns.append(array_of(is_known(self._state, intervals.ids)))
        return pa.record_batch(columns, names=self.names)

    def _located(self, addresses: pa.Array) -> tuple[pa.Array, AddressIntervals]:
        """Return addresses, cleaned if that is wanted, and their intervals."""
        intervals = locate_chunk(self._state, addresses)
        if self._clean:
            return clean_column(self._state, addresses, intervals)
        return addresses, intervals

    def _own_ids(self, addresses: pa.Array, intervals: AddressIntervals) -> Int32 | None:
        """Return the interval ids for own columns, None if they are the same."""
        if not self._taker.needs_private:
            return None
        return with_private(self._state, addresses, intervals)


def chunked(inputs: Inputs) -> Inputs:
    """Return inputs of any kind as Arrow columns."""
    return for_each(column_of, inputs)


def types_of(inputs: Inputs) -> Inputs:
    """Return the types of Arrow columns."""
    return for_each(lambda column: column.type, inputs)


def empty_array(kind: pa.DataType) -> pa.Array:
    """Return an array without rows, of the storage type."""
    return column_of(pa.chunked_array([pa.nulls(0, kind)])).chunk(0)


def _numbered(columns: Iterable[Inputs]) -> Iterator[tuple[int, Inputs]]:
    """Yield parts with the number of their first row, for messages."""
    begin = 0
    for part in parts_of(columns):
        yield begin, part
        begin += len(part.addresses)


def parts_of(columns: Iterable[Inputs]) -> Iterator[Inputs]:
    """Slice Arrow columns into arrays of at most CHUNK rows."""
    for inputs in columns:
        begin = 0
        # Addresses in chunks of 3 and 2, instants in one of 5: rows 0-2, then 3-4 of the instants.
        for addresses in chunks(inputs.addresses):
            instants = as_of = _rows(inputs.instants, begin, len(addresses))
            if inputs.as_of is not inputs.instants:
                as_of = _rows(inputs.as_of, begin, len(addresses))
            yield Inputs(addresses, instants, as_of)
            begin += len(addresses)


def _rows(column: pa.ChunkedArray | None, begin: int, count: int) -> pa.Array | None:
    """Return rows of a column, across the bounds of its chunks."""
    return None if column is None else column.slice(begin, count).combine_chunks()


def in_order_of(
    fields: Iterable[Field],
    stored: Iterable[pa.Array],
    addresses: pa.Array,
    intervals: AddressIntervals,
) -> list[pa.Array]:
    """Return a column for each field; ``stored`` are columns of fields that are not OF_ADDRESS."""
    columns = iter(stored)
    return [
        _OF_ADDRESS[field.path](addresses, intervals) if field in OF_ADDRESS else next(columns)
        for field in fields
    ]


def refuse(addresses: pa.Array, intervals: AddressIntervals, numbers: RowNumbers) -> None:
    """Raise the error of the first refused row; a note states its number."""
    refused = np.flatnonzero(np.isin(intervals.ids, tuple(_ERRORS)))
    if len(refused):
        row = int(refused[0])
        error = _ERRORS[int(intervals.ids[row])](_value_or_bytes(addresses[row]))
        error.add_note(RowNote(int(numbers[row])))
        raise error


def _value_or_bytes(value: pa.Scalar) -> object:
    """Return the value of a row; a text that is not UTF-8 as bytes."""
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()


def _ip(addresses: pa.Array, intervals: AddressIntervals) -> pa.Array:
    """Return canonical texts; ``canonical`` writes them one by one."""
    # Rows without an address can hold any bytes: they are skipped.
    rows = np.flatnonzero(intervals.ids >= 0)
    texts: list[str | None] = [None] * len(addresses)
    for at, family in zip(rows.tolist(), intervals.families[rows].tolist(), strict=True):
        texts[at] = _canonical(addresses[at].as_py(), family)
    return pa.array(texts, pa.string())


def _canonical(value: str | bytes | int, family: int) -> str:
    if isinstance(value, bytes):
        return canonical(family, int.from_bytes(value))
    return canonical(family, value) if isinstance(value, int) else canonical(*parse(value))


def _ip_type(_addresses: pa.Array, intervals: AddressIntervals) -> pa.Array:
    # True as int8 is the index 1, of "ipv6".
    indices = array_of((intervals.families == 6).view(np.int8), intervals.ids >= 0)
    return pa.DictionaryArray.from_arrays(indices, _FAMILIES)


def _error_code(_addresses: pa.Array, intervals: AddressIntervals) -> pa.Array:
    codes = np.zeros(len(intervals.ids), np.int32)
    for interval_id, error in _ERRORS.items():
        codes[intervals.ids == interval_id] = error.code
    return array_of(codes, codes != 0)


_OF_ADDRESS = {"ip": _ip, "ip_type": _ip_type, "error_code": _error_code}
