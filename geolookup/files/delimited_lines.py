"""Records of CSV as whole lines, for an output of CSV: only columns that are keys become columns.

Strategy: the kernel splits a block, and writes each record as the output has it. Arrow reads blocks
that the kernel refuses: it finds the error, or reads text after a closing quote.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.files.row_streams import LINE
from geolookup.kernel import split_records

#: Bytes that a record can have when it is written, by the bytes that were read.
_GROWTH = 3
_LINE_END = re.compile(rb"\r\n|\r|\n|\Z")


class RecordLines:
    """Makes keys and lines of blocks of records.

    ``delimiters`` are the one to read and the one to write, ``keys`` the numbers of columns.
    """

    def __init__(
        self, delimiters: tuple[str, str], names: Sequence[str], keys: Sequence[int]
    ) -> None:
        self._delimiters = np.frombuffer("".join(delimiters).encode("ascii"), np.uint8)
        self._columns = len(names)
        self.keys = sorted(keys)
        fields = [pa.field(names[key], pa.large_string()) for key in self.keys]
        self.schema = pa.schema([*fields, pa.field(LINE, pa.large_binary())])

    def split(self, block: bytes, skipped_lines: int) -> pa.RecordBatch | None:
        """Return the keys and lines of the records after some lines; None if refused."""
        data = np.frombuffer(block, np.uint8)[_end_of_lines(block, skipped_lines) :]
        # Rows and bytes are bounds: memory that is not written costs nothing.
        # A record has at least a byte for each column, the last one of a file one less.
        rows, keys = len(data) // self._columns + 1, len(self.keys)
        lines = _Texts.of(1, _GROWTH * (len(data) + 1), rows)
        texts = _Texts.of(keys, len(data), rows)
        valid = np.empty((keys, rows), np.uint8)
        count = split_records(
            data,
            self._delimiters,
            self._columns,
            np.array(self.keys, np.int64),
            lines.data[0],
            lines.offsets[0],
            texts.data,
            texts.offsets,
            valid,
        )
        if count < 0:
            return None
        columns = [texts.column(at, count, valid[at]) for at in range(keys)]
        return self.batch(columns, lines.column(0, count, None))

    def batch(self, keys: Sequence[pa.Array], lines: pa.Array) -> pa.RecordBatch:
        """Return the texts of keys and of lines as a batch."""
        columns = [key.cast(pa.large_string()) for key in keys]
        return pa.record_batch([*columns, lines.cast(pa.large_binary())], schema=self.schema)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Room for columns of texts."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, columns: int, size: int, rows: int) -> _Texts:
        """Return room for columns of so many bytes and rows."""
        return cls(np.empty((columns, size), np.uint8), np.empty((columns, rows + 1), np.int64))

    def column(self, at: int, rows: int, valid: NDArray[np.uint8] | None) -> pa.Array:
        """Return a column; its null texts are 0 in ``valid``."""
        bits = None
        if valid is not None and not valid[:rows].all():
            bits = pa.py_buffer(np.packbits(valid[:rows], bitorder="little"))
        buffers = [bits, pa.py_buffer(self.offsets[at]), pa.py_buffer(self.data[at])]
        return pa.Array.from_buffers(pa.large_string(), rows, buffers)


def _end_of_lines(block: bytes, lines: int) -> int:
    """Return where the first lines end."""
    end = 0
    for match in islice(_LINE_END.finditer(block), lines):
        end = match.end()
    return end
