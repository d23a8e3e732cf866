"""Columns of texts joined row by row, to a column or to a stream, through the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from geolookup.dataset.arrow_files import without_nulls
from geolookup.kernel import join_texts

if TYPE_CHECKING:
    from geolookup.kernel.protocol import Part

#: Bytes that are written at a time: they remain in the cache of a core.
_BLOCK = 1 << 19
#: Bytes that are expected of a row of a dictionary.
_EXPECTED = 16


@dataclass(frozen=True, slots=True)
class Cells:
    """A column to write as cells of CSV: quoted if they must be."""

    texts: pa.Array


#: A column of large_binary, or a dictionary of it; or bytes for all rows.
RowPart: TypeAlias = "pa.Array | Cells | bytes"


def join(*parts: RowPart, delimiter: str = ",") -> pa.Array:
    """Return the parts concatenated row by row; a null part is empty."""
    rows, joined = _rows(parts), [*map(_part, parts)]
    offsets = np.zeros(rows + 1, np.int64)
    out = np.empty(_size(joined, rows), np.uint8)
    done = join_texts(joined, 0, delimiter, b"", offsets, out)
    while done < rows:
        out = np.concatenate([out, np.empty_like(out)])
        done = join_texts(joined, done, delimiter, b"", offsets, out)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.large_binary(), rows, buffers)


def bytes_of(texts: pa.Array) -> pa.Buffer:
    """Return the texts of a column without nulls as one buffer, without a copy."""
    _, offsets, data = texts.buffers()
    # The offsets as an array: only the first and the last are read.
    # Texts 1 and 2 of "abc", whose offsets are 0 1 2 3, are the bytes from 1 to 3.
    bounds = pa.Array.from_buffers(pa.int64(), texts.offset + len(texts) + 1, [None, offsets])
    first, last = bounds[texts.offset].as_py(), bounds[len(bounds) - 1].as_py()
    # A column of texts is its bytes, one text after the other.
    return (data or pa.py_buffer(b"")).slice(first, last - first)


class RowWriter:
    """Writes rows to a stream; ``null`` is the text of null.

    It writes from one buffer: memory that was never touched costs more than a copy.
    """

    def __init__(self, stream: Any, delimiter: str = ",", null: bytes = b"") -> None:
        self._stream, self._delimiter, self._null = stream, delimiter, null
        self._out = np.empty(_BLOCK, np.uint8)

    def write(self, parts: Sequence[RowPart]) -> None:
        """Write the parts of each row."""
        rows, joined = _rows(parts), [*map(_part, parts)]
        offsets = np.zeros(rows + 1, np.int64)
        first = 0
        while first < rows:
            offsets[first] = 0
            end = join_texts(joined, first, self._delimiter, self._null, offsets, self._out)
            if end == first:  # the buffer is too small for one row
                self._out = np.empty(2 * len(self._out), np.uint8)
            else:
                self._stream.write(self._out[: offsets[end]])
            first = end


def _rows(parts: Sequence[RowPart]) -> int:
    """Return the number of rows: at least one part is a column."""
    columns = (part.texts if isinstance(part, Cells) else part for part in parts)
    return next(len(column) for column in columns if not isinstance(column, bytes))


def _part(part: RowPart) -> bytes | Part:
    """Return a part as the kernel takes it."""
    if isinstance(part, bytes):
        return part
    texts, indices = part.texts if isinstance(part, Cells) else part, None
    if pa.types.is_dictionary(texts.type):
        # A row without an index is null: -1.
        indices = without_nulls(texts.indices.cast(pa.int32()), -1).to_numpy()
        texts = texts.dictionary
    validity, offsets, data = texts.buffers()
    bits = np.frombuffer(validity, np.uint8) if texts.null_count else None
    bounds = np.frombuffer(offsets, np.int64, len(texts) + 1, texts.offset * 8)
    text = np.frombuffer(data or b"", np.uint8)
    return text, bounds, bits, texts.offset, indices, isinstance(part, Cells)


def _size(parts: Sequence[bytes | Part], rows: int) -> int:
    """Return the bytes that rows are expected to have, at least 1."""
    size = 1
    for part in parts:
        if isinstance(part, bytes):
            size += len(part) * rows
        elif part[4] is None:
            size += int(part[1][-1] - part[1][0])
        else:
            size += _EXPECTED * rows
    return size
