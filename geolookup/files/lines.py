"""Text files in blocks of whole lines; and plain lists of addresses, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import (
    ReadOptions,
    RowNumbers,
    Rows,
    check_columns,
    check_kind,
    explained,
    explained_batches,
)
from geolookup.files.text_blocks import filled, line_blocks
from geolookup.filesystem.signatures import START_BYTES

_BLOCK = 1 << 22
_NEWLINE = 10


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are not blank, without line ends and surrounding whitespace."""

    texts: pa.Array  # large_binary
    numbers: Any  # int64, the line number of each in the file, from 1

    @classmethod
    def of(cls, block: bytes, first: int) -> Lines:
        """Return the lines of a block, the first of which has the number ``first``."""
        if not block.endswith(b"\n"):
            block += b"\n"
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == _NEWLINE) + 1
        bounds = np.concatenate([[0], ends]).astype(np.int64)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(block)]
        texts = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
        texts = pc.ascii_trim_whitespace(texts).cast(pa.large_binary())
        not_blank = pc.greater(pc.binary_length(texts), 0)
        numbers = np.flatnonzero(not_blank.to_numpy(zero_copy_only=False)) + first
        return cls(texts.filter(not_blank), numbers)


def lines_of(plain: Any, name: str) -> Iterator[Lines]:
    """Yield the lines of a stream block by block, without blank ones."""
    with explained(name, "file of lines"):
        begun = filled(plain, START_BYTES)
        check_kind(name, begun, "text")
        for first, block in line_blocks(plain, _BLOCK, begun=begun):
            yield Lines.of(block, first)


class PlainList:
    """Reads a list of addresses as one column, named as the key asks; read only."""

    def read(self, stream: InputStream, wanted: ReadOptions) -> Rows:
        """Return one column; lines need not be UTF-8."""
        column, *others = wanted.keys
        check_columns(wanted.name, [column], others)
        schema = pa.schema([(column, pa.large_string())])
        numbers = RowNumbers()

        def batches() -> Iterator[pa.RecordBatch]:
            for each in lines_of(stream.plain, wanted.name):
                numbers.add(each.numbers)
                texts = each.texts.cast(pa.large_string(), safe=False)
                yield pa.record_batch([texts], schema=schema)

        listed = explained_batches(batches(), wanted.name, "list")
        return Rows(schema, listed, numbers=numbers)

    def names(self, _stream: InputStream, _wanted: ReadOptions) -> list[str]:
        """Return no names: a list has no columns."""
        return []
