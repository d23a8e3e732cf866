"""Located rows to columns of the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.errors import DatasetError
from geolookup.localtime import instant
from geolookup.tables.fields import Field, of_rows
from geolookup.tables.rows import row_tables
from geolookup.tables.times import Clock

Int32 = NDArray[np.int32]


def take(state: Any, rows: Any, paths: str | Iterable[str] | None, at: Any) -> pa.RecordBatch:
    """Return the columns that paths name for located rows; see ``Engine.take``."""
    fields = of_rows(paths)
    numbers = _numbers(rows)
    clock = Clock(row_tables(state.dataset).zones, instant(at))
    columns = Taker(state, fields, clock).take(numbers)
    return pa.record_batch(columns, names=[field.name for field in fields])


def _numbers(rows: Any) -> Int32:
    """Return row numbers as numpy, -1 where they are null."""
    array = rows if isinstance(rows, pa.Array | pa.ChunkedArray) else pa.array(rows)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        array = array.cast(pa.int32())
    if not pa.types.is_integer(array.type):
        raise TypeError(f"row numbers are integers, not {array.type}: use locate first")
    plain: Int32 = array.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(plain)


class Taker:
    """Takes some fields for located rows, a chunk at a time."""

    def __init__(self, state: Any, fields: Sequence[Field], clock: Clock) -> None:
        self._state = state
        self._fields = fields
        self._clock = clock
        self._tables = row_tables(state.dataset)
        groups = {field.group for field in fields}
        self._needs_location = bool(groups & {"location", "time", "currency"})
        self._needs_network = "network" in groups
        self._times = [field.member for field in fields if field.group == "time"]

    def take(self, rows: Int32, seconds: pa.Array | None = None) -> list[pa.Array]:
        """Return a column a field for n rows, all null where a row is below 0.

        ``seconds`` are n instants (int64 Unix seconds), where each row has its own.
        """
        chosen = self._chosen(rows)
        times = self._clock.take(chosen.get("zone"), rows >= 0, self._times, seconds)
        try:
            return [
                times[field.member] if field.group == "time" else self._column(field, chosen)
                for field in self._fields
            ]
        except IndexError:
            raise self._outside() from None

    def _column(self, field: Field, chosen: dict[str, pa.Array]) -> pa.Array:
        table, values = self._tables.columns[field.group, field.member]
        return values.take(chosen[table])

    def _chosen(self, rows: Int32) -> dict[str, pa.Array]:
        """Return the rows of each table that is needed."""
        locations = np.empty(len(rows), np.uint32)
        networks = np.empty(len(rows), np.uint32)
        self._state.take_rows(rows, locations, networks)
        chosen = {"location": pa.array(locations), "network": pa.array(networks)}
        if self._needs_location:
            try:
                chosen["country"] = self._tables.country_of.take(chosen["location"])
                chosen["zone"] = self._tables.zone_of.take(chosen["location"])
            except IndexError:
                raise self._outside() from None
        return chosen

    def _outside(self) -> DatasetError:
        problem = "an index leads outside its table"
        return DatasetError(
            self._state.dataset.path, problem, "build it again with 'geolookup build'"
        )
