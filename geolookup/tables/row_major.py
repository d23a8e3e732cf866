"""The columns of a table in row-major order, so that one memory access fetches a whole row.

Strategy: taking several columns for rows in random order costs one cache miss
for each row and column. In row-major order it costs one for each row: the rows
of a chunk are copied at once, and split into columns while they are in the
cache. Texts are stored as dictionary indices, null as a number that no value
of the column has (-1; NaN for floats).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: The stored type of a column; values of 8 bytes precede those of 4, so that all are aligned.
_STORED: dict[pa.DataType, type[np.generic]] = {
    pa.float64(): np.float64,
    pa.dictionary(pa.int32(), pa.string()): np.int32,
    pa.uint32(): np.int64,  # wider, for a null that is no uint32
    pa.uint16(): np.int32,
}
#: The numpy type of a column of numbers; Arrow's to_pandas_dtype needs pandas in some versions.
_NUMPY = {pa.float64(): np.float64, pa.uint32(): np.uint32, pa.uint16(): np.uint16}
Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of a column in a row, counted in values of its width."""

    at: int
    stored: type[np.generic]
    column: pa.Array


class RowMajor:
    """Columns of one length in row-major order, by name."""

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        stored = {name: _STORED[column.type] for name, column in columns.items()}
        wide = [name for name, of in stored.items() if np.dtype(of).itemsize == 8]
        narrow = [name for name in columns if name not in wide]
        self.count = len(next(iter(columns.values())))
        self._rows = np.zeros((self.count, len(wide) + (len(narrow) + 1) // 2), np.int64)
        self._positions: dict[str, _Position] = {}
        for at, name in [*enumerate(wide), *enumerate(narrow, 2 * len(wide))]:
            position = self._positions[name] = _Position(at, stored[name], columns[name])
            self._rows.view(position.stored)[:, at] = _numbers(position)

    def take(self, rows: NDArray[np.uint32], names: Iterable[str]) -> dict[str, pa.Array]:
        """Return the columns for n rows; IndexError for a row outside the table."""
        if len(rows) and int(rows.max()) >= self.count:
            raise IndexError
        found = np.take(self._rows, rows, axis=0, mode="clip")
        return {name: _column(found, self._positions[name]) for name in names}


def _numbers(position: _Position) -> Values:
    column = position.column
    plain = column.indices if pa.types.is_dictionary(column.type) else column
    null = float("nan") if position.stored is np.float64 else -1
    wide: Values = plain.cast(pa.from_numpy_dtype(position.stored)).fill_null(null).to_numpy()
    return wide


def _column(found: Values, position: _Position) -> pa.Array:
    numbers = np.ascontiguousarray(found.view(position.stored)[:, position.at])
    valid = numbers == numbers if position.stored is np.float64 else numbers >= 0
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = position.column.type
    if pa.types.is_dictionary(kind):
        buffers = [validity, pa.py_buffer(np.maximum(numbers, 0))]
        return pa.DictionaryArray.from_buffers(
            kind, len(numbers), buffers, position.column.dictionary
        )
    plain = numbers.astype(_NUMPY[kind], copy=False)
    return pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(plain)])
