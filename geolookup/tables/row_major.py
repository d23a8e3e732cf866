"""The columns of a table side by side, so that one fetch from memory brings a row's values.

Strategy: where several columns are taken for rows in random order, most of
the time goes by waiting for memory, once a column. So numbers, and texts by
their places in the dictionary, are laid out row by row; a chunk's rows are
copied out of that at once, and fall apart into columns in the cache. Null
is a number that the column has nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

#: How a type is laid out; 8 bytes before 4, so that all are aligned.
_LAID_OUT: dict[pa.DataType, type[np.generic]] = {
    pa.float64(): np.float64,
    pa.dictionary(pa.int32(), pa.string()): np.int32,
    pa.uint32(): np.int64,  # holds a number that is none of them
    pa.uint16(): np.int32,
}
#: The numpy type of a number; asking the Arrow type for it needs pandas in some versions.
_STATED = {pa.float64(): np.float64, pa.uint32(): np.uint32, pa.uint16(): np.uint16}
Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a column lies in a row: its number among values of its width."""

    at: int
    layout: type[np.generic]
    column: pa.Array


class Packed:
    """Columns by name, of one length, to be taken several at once."""

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        layouts = {name: _LAID_OUT[column.type] for name, column in columns.items()}
        wide = [name for name, layout in layouts.items() if np.dtype(layout).itemsize == 8]
        narrow = [name for name in columns if name not in wide]
        self.count = len(next(iter(columns.values())))
        self._rows = np.zeros((self.count, len(wide) + (len(narrow) + 1) // 2), np.int64)
        self._slots: dict[str, _Slot] = {}
        for at, name in [*enumerate(wide), *enumerate(narrow, 2 * len(wide))]:
            slot = self._slots[name] = _Slot(at, layouts[name], columns[name])
            self._rows.view(slot.layout)[:, at] = _numbers(slot)

    def take(self, rows: NDArray[np.uint32], names: Iterable[str]) -> dict[str, pa.Array]:
        """Return columns for n rows; IndexError where there is no such row."""
        if len(rows) and int(rows.max()) >= self.count:
            raise IndexError
        found = np.take(self._rows, rows, axis=0, mode="clip")
        return {name: _column(found, self._slots[name]) for name in names}


def _numbers(slot: _Slot) -> Values:
    column = slot.column
    plain = column.indices if pa.types.is_dictionary(column.type) else column
    null = float("nan") if slot.layout is np.float64 else -1
    wide: Values = plain.cast(pa.from_numpy_dtype(slot.layout)).fill_null(null).to_numpy()
    return wide


def _column(found: Values, slot: _Slot) -> pa.Array:
    numbers = np.ascontiguousarray(found.view(slot.layout)[:, slot.at])
    valid = numbers == numbers if slot.layout is np.float64 else numbers >= 0
    validity = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = slot.column.type
    if pa.types.is_dictionary(kind):
        buffers = [validity, pa.py_buffer(np.maximum(numbers, 0))]
        return pa.DictionaryArray.from_buffers(kind, len(numbers), buffers, slot.column.dictionary)
    plain = numbers.astype(_STATED[kind], copy=False)
    return pa.Array.from_buffers(kind, len(numbers), [validity, pa.py_buffer(plain)])
