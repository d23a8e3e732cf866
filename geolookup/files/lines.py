"""Text files in blocks of whole lines; and plain lists of addresses, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.errors import TableFileError
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

_BLOCK = 1 << 22
#: The longest line, in bytes: a line is held in memory as a whole.
_LONGEST = 1 << 28
_NEWLINE = 10
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that are not blank, without line ends and surrounding whitespace."""

    texts: pa.Array  # large_binary
    numbers: Any  # int64, the line number of each in the file, from 1


def lines_of(plain: Any, name: str) -> Iterator[Lines]:
    """Yield the lines of a stream block by block, without blank ones."""
    before, left = 0, b""
    with explained(name, "file of lines"):
        while block := plain.read(_BLOCK):
            if not before and not left:
                check_kind(name, block, "text")
                block = block.removeprefix(_BOM)
            cut = block.rfind(b"\n") + 1
            if not cut:
                left = _longer(left, block, name, before)
                continue
            whole, left = left + block[:cut], block[cut:]
            yield _cut(whole, before)
            before += whole.count(b"\n")
    if left:
        yield _cut(left + b"\n", before)


def _longer(left: bytes, block: bytes, name: str, before: int) -> bytes:
    if len(left) + len(block) > _LONGEST:
        raise TableFileError(name, "a line has no end", "is it a file of lines?", row=before + 1)
    return left + block


def _cut(whole: bytes, before: int) -> Lines:
    ends = np.flatnonzero(np.frombuffer(whole, np.uint8) == _NEWLINE) + 1
    bounds = np.concatenate([[0], ends]).astype(np.int64)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(whole)]
    texts = pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
    texts = pc.ascii_trim_whitespace(texts).cast(pa.large_binary())
    not_blank = pc.greater(pc.binary_length(texts), 0)
    numbers = np.flatnonzero(not_blank.to_numpy(zero_copy_only=False)) + before + 1
    return Lines(texts.filter(not_blank), numbers)


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
