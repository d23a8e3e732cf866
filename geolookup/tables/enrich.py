"""A column of addresses to columns of answers: chunk by chunk, on all cores, in order.

Strategy: one thread locates and takes a chunk while the chunk is in the cache of its core. The
kernel and Arrow release the interpreter lock. The number of pending chunks is bounded: memory does
not grow with the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from geolookup.contract.address import canonical
from geolookup.contract.fields import Field
from geolookup.contract.localtime import instant
from geolookup.contract.types import OnInvalid
from geolookup.dataset.arrow_files import array_of
from geolookup.errors import AddressError, InvalidAddressError, PrivateAddressError
from geolookup.kernel.columns import INVALID_ID, PRIVATE_ID
from geolookup.parallel import cores, in_order
from geolookup.tables.locate import (
    CHUNK,
    AddressIntervals,
    clean_column,
    locate_chunk,
    parse_chunk,
    with_private,
)
from geolookup.tables.row_notes import RowNote
from geolookup.tables.row_tables import row_tables
from geolookup.tables.take import OF_ADDRESS, Taker, is_known
from geolookup.tables.times import Clock, Instants, instants_of

if TYPE_CHECKING:
    from geolookup.kernel import State

_ERRORS: dict[int, type[AddressError]] = {
    INVALID_ID: InvalidAddressError,
    PRIVATE_ID: PrivateAddressError,
}
_FAMILIES = pa.array(["ipv4", "ipv6"])
#: Inputs without instants.
TEXTS = pa.schema({"column": pa.string()})


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

    def schema(self, inputs: pa.Schema = TEXTS) -> pa.Schema:
        """Return the schema of the new columns for inputs of these types.

        Raises TypeError for a type that holds no addresses, or no instants.
        """
        empty = [pa.nulls(0, field.type) for field in inputs]
        return self._enrich((0, pa.record_batch(empty, names=inputs.names))).schema

    def table(self, inputs: pa.Table) -> pa.Table:
        """Return the new columns for ``inputs`` (see that module)."""
        schema = self.schema(inputs.schema)
        return pa.Table.from_batches(list(self.batches(inputs.to_batches(CHUNK))), schema)

    def batches(self, inputs: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the new columns for each batch of inputs, of at most CHUNK rows, in order."""
        with in_order(self._enrich, _numbered(inputs), self._threads) as batches:
            yield from batches

    def _enrich(self, numbered: tuple[int, pa.RecordBatch]) -> pa.RecordBatch:
        begin, inputs = numbered
        has_instants = "time_column" in inputs.schema.names
        instants = instants_of(inputs["time_column"], begin) if has_instants else None
        return self.batch(inputs["column"], instants, begin)

    def batch(
        self, addresses: pa.Array, instants: Instants | None = None, begin: int = 0
    ) -> pa.RecordBatch:
        """Return the new columns for an array; ``begin`` is its first row, for messages."""
        addresses, intervals = self._located(addresses)
        if self._strict:
            refuse(addresses, intervals, begin)
        own_ids = None
        if self._taker.needs_private:
            own_ids = with_private(self._state, addresses, intervals)
        stored = iter(self._taker.take(intervals.ids, instants, own_ids))
        columns = [
            _OF_ADDRESS[field.path](addresses, intervals) if field in OF_ADDRESS else next(stored)
            for field in self._fields
        ]
        if self._add_known:
            columns.append(array_of(is_known(self._state, intervals.ids)))
        return pa.record_batch(columns, names=self.names)

    def _located(self, addresses: pa.Array) -> tuple[pa.Array, AddressIntervals]:
        """Return addresses, cleaned if that is wanted, and their intervals."""
        intervals = locate_chunk(self._state, addresses)
        if self._clean:
            return clean_column(self._state, addresses, intervals)
        return addresses, intervals


def _numbered(inputs: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield batches with the number of their first row, for messages."""
    begin = 0
    for batch in inputs:
        yield begin, batch
        begin += len(batch)


def refuse(addresses: pa.Array, intervals: AddressIntervals, begin: int) -> None:
    """Raise the error of the first refused row; a note states its number, counted from begin."""
    refused = np.flatnonzero(np.isin(intervals.ids, tuple(_ERRORS)))
    if len(refused):
        row = int(refused[0])
        error = _ERRORS[int(intervals.ids[row])](_value_or_bytes(addresses[row]))
        error.add_note(RowNote(begin + row))
        raise error


def _value_or_bytes(value: pa.Scalar) -> object:
    """Return the value of a row; a text that is not UTF-8 as bytes."""
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()


def _ip(addresses: pa.Array, intervals: AddressIntervals) -> pa.Array:
    """Return canonical texts; ``canonical`` writes them one by one."""
    numbers = parse_chunk(addresses)
    texts: list[str | None] = [None] * len(addresses)
    for at in np.flatnonzero(intervals.ids >= 0).tolist():
        value = int(numbers.high[at]) << 64 | int(numbers.low[at])
        texts[at] = canonical(int(numbers.family[at]), value)
    return pa.array(texts, pa.string())


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
