"""The columns of a table in row-major order: one memory access fetches a whole row.

Strategy: to take several columns for rows in random order costs one cache miss for each row and
column. In row-major order it costs one for each row. A row begins with a word; its bits mark the
null columns. Texts are stored as dictionary indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup import kernel

#: The stored types; a dictionary is stored as its indices.
_STORED: dict[pa.DataType, type[np.generic]] = {
    pa.float64(): np.float64,
    pa.int64(): np.int64,
    pa.dictionary(pa.int32(), pa.string()): np.int32,
    pa.uint32(): np.uint32,
    pa.uint16(): np.uint16,
}
_WORD = 8  # bytes, of the nulls of a row
#: Columns of a row: each has a bit of that word.
MOST_COLUMNS = 8 * _WORD
_LINE = 64  # bytes of a cache line


@dataclass(frozen=True, slots=True)
class _Position:
    """A column: its number, the byte of a row at which it begins, its width, and its values."""

    number: int
    begin: int
    width: int
    column: pa.Array


class RowMajor:
    """Columns of one length in row-major order, by name: ``MOST_COLUMNS`` at most.

    ``is_stored`` must accept their types.
    """

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self._positions = dict(_positions(columns))
        self._rows = _aligned_zeros(
            len(next(iter(columns.values()))),
            max(position.begin + position.width for position in self._positions.values()),
        )
        # | nulls, 8 bytes | widest columns | ... | narrowest columns | padding |
        nulls = self._rows[:, :_WORD].view(np.uint64)[:, 0]
        for position in self._positions.values():
            stored = _STORED[position.column.type]
            self._rows[:, position.begin : position.begin + position.width].view(stored)[:, 0] = (
                _numbers(position.column)
            )
            absent = position.column.is_null().to_numpy(zero_copy_only=False)
            # ``nulls`` is a view: bit ``number`` of each row's word.
            nulls |= absent.astype(np.uint64) << np.uint64(position.number)

    def take(self, rows: NDArray[np.uint32], names: Iterable[str]) -> dict[str, pa.Array]:
        """Return the columns for n rows; IndexError for a row outside the table."""
        positions = {name: self._positions[name] for name in names}
        count = len(rows)
        # Memory of numpy: with Arrow's pool the system spent more time on fresh pages.
        values = [np.empty(count * position.width, np.uint8) for position in positions.values()]
        validity = [np.empty((count + 7) // 8, np.uint8) for _ in positions]
        nulls = kernel.gather(
            self._rows,
            rows,
            [(position.number, position.begin, position.width) for position in positions.values()],
            values,
            validity,
        )
        # A column without nulls in these rows has no validity buffer, as in Arrow.
        return {
            name: _column(
                position.column, count, bits if nulls >> position.number & 1 else None, numbers
            )
            for (name, position), bits, numbers in zip(
                positions.items(), validity, values, strict=True
            )
        }


def is_stored(kind: pa.DataType) -> bool:
    """Return whether a row-major table can hold a column of this type."""
    return kind in _STORED


def _positions(columns: Mapping[str, pa.Array]) -> Iterable[tuple[str, _Position]]:
    """Yield the position of each column, the widest first: all are aligned."""
    widths = {name: np.dtype(_STORED[column.type]).itemsize for name, column in columns.items()}
    begin = _WORD
    for number, name in enumerate(sorted(columns, key=lambda name: -widths[name])):
        yield name, _Position(number, begin, widths[name], columns[name])
        begin += widths[name]


def _aligned_zeros(count: int, size: int) -> NDArray[np.uint8]:
    """Return zeros for rows of at least ``size`` bytes; a short row lies in one cache line."""
    # 20 bytes become 32, and two rows are one cache line; 70 bytes become 72.
    stride = 1 << (size - 1).bit_length() if size <= _LINE else -(-size // _WORD) * _WORD
    memory = np.zeros(count * stride + _LINE, np.uint8)
    # Bytes up to the next multiple of 64.
    first = -memory.ctypes.data % _LINE
    return memory[first : first + count * stride].reshape(count, stride)


def _numbers(column: pa.Array) -> NDArray[np.generic]:
    """Return the values of a column, 0 for null."""
    plain = column.indices if pa.types.is_dictionary(column.type) else column
    numbers: NDArray[np.generic] = plain.fill_null(0).to_numpy(zero_copy_only=False)
    return numbers


def _column(
    like: pa.Array, count: int, validity: NDArray[np.uint8] | None, values: NDArray[np.uint8]
) -> pa.Array:
    """Return an array of these values, of the type and the dictionary of another."""
    buffers = [None if validity is None else pa.py_buffer(validity), pa.py_buffer(values)]
    if pa.types.is_dictionary(like.type):
        return pa.DictionaryArray.from_buffers(like.type, count, buffers, like.dictionary)
    return pa.Array.from_buffers(like.type, count, buffers)
