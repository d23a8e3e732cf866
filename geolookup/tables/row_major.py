"""The columns of a table in row-major order: one memory access fetches a whole row.

Strategy: to take several columns for rows in random order costs one cache miss for each row and
column. In row-major order it costs one for each row. A row begins with a word; its bits mark the
null columns. Texts are stored as dictionary indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup import kernel

#: The stored types; a dictionary is stored as its indices.
_STORED: dict[pa.DataType, str] = {
    pa.float64(): "f8",
    pa.int64(): "i8",
    pa.dictionary(pa.int32(), pa.string()): "i4",
    pa.uint32(): "u4",
    pa.uint16(): "u2",
}
_WORD = 8  # bytes, of the nulls of a row
#: Columns of a row: each has a bit of that word.
MOST_COLUMNS = 8 * _WORD
_LINE = 64  # bytes of a cache line


def is_stored(kind: pa.DataType) -> bool:
    """Return whether a row-major table can hold a column of this type."""
    return kind in _STORED


class RowMajor:
    """Columns of one length in row-major order, by name: ``MOST_COLUMNS`` at most.

    ``is_stored`` must accept their types.
    """

    def __init__(self, columns: Mapping[str, pa.Array]) -> None:
        self._columns = columns
        kinds = {name: np.dtype(_STORED[column.type]) for name, column in columns.items()}
        # | nulls, 8 bytes | widest columns | ... | narrowest columns | padding |: all are aligned.
        names = sorted(columns, key=lambda name: -kinds[name].itemsize)
        sizes = [_WORD, *(kinds[name].itemsize for name in names)]
        #: of each column the number of its bit, the byte of a row at which it begins, its width
        self._lanes = {
            name: (number, sum(sizes[: number + 1]), kinds[name].itemsize)
            for number, name in enumerate(names)
        }
        self._table = _aligned_zeros(len(columns[names[0]]), sum(sizes))
        nulls = self._table[:, :_WORD].view(np.uint64)[:, 0]
        for name, (number, begin, width) in self._lanes.items():
            column = columns[name]
            plain = column.indices if pa.types.is_dictionary(column.type) else column
            numbers = plain.fill_null(0).to_numpy(zero_copy_only=False)
            self._table[:, begin : begin + width].view(kinds[name])[:, 0] = numbers
            absent = column.is_null().to_numpy(zero_copy_only=False)
            nulls |= absent.astype(np.uint64) << np.uint64(number)

    def take(self, rows: NDArray[np.uint32], names: Iterable[str]) -> dict[str, pa.Array]:
        """Return the columns for n rows; IndexError for a row outside the table."""
        lanes = {name: self._lanes[name] for name in names}
        count = len(rows)
        # Memory of numpy: with Arrow's pool the system spent more time on fresh pages.
        values = [np.empty(count * width, np.uint8) for _, _, width in lanes.values()]
        validity = [np.empty((count + 7) // 8, np.uint8) for _ in lanes]
        nulls = kernel.gather(self._table, rows, [*lanes.values()], values, validity)
        arrays = {}
        for (name, lane), bits, data in zip(lanes.items(), validity, values, strict=True):
            # A column without nulls in these rows has no validity buffer, as in Arrow.
            has_null = nulls >> lane[0] & 1
            buffers = [pa.py_buffer(bits) if has_null else None, pa.py_buffer(data)]
            arrays[name] = _array(self._columns[name], count, buffers)
        return arrays


def _aligned_zeros(count: int, size: int) -> NDArray[np.uint8]:
    """Return zeros for rows of at least ``size`` bytes; a short row lies in one cache line."""
    # 20 bytes become 32, and two rows are one cache line; 70 bytes become 72.
    stride = 1 << (size - 1).bit_length() if size <= _LINE else -(-size // _WORD) * _WORD
    memory = np.zeros(count * stride + _LINE, np.uint8)
    # Bytes up to the next multiple of 64.
    first = -memory.ctypes.data % _LINE
    return memory[first : first + count * stride].reshape(count, stride)


def _array(like: pa.Array, count: int, buffers: list[pa.Buffer | None]) -> pa.Array:
    """Return an array of these buffers, of the type and the dictionary of another."""
    if pa.types.is_dictionary(like.type):
        return pa.DictionaryArray.from_buffers(like.type, count, buffers, like.dictionary)
    return pa.Array.from_buffers(like.type, count, buffers)
