"""Lines of texts by their bounds, and lists of addresses: files of one address per line.

Strategy: numpy finds the bounds of lines and of their fields in the bytes of a block. Only the
texts that are wanted become Arrow columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64, U8, Bools
from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import Block, ReadOptions, Rows, begin_text, check_columns
from geolookup.files.text_blocks import line_blocks

#: Bytes of a block: its columns fit into a core's cache.
BLOCK = 1 << 21
_LINE_FEED, _RETURN = b"\n\r"
_BYTES = pa.large_binary()
_IS_BLANK = np.isin(np.arange(256), [*b" \t\n\v\f\r"])


@dataclass(frozen=True)
class Lines:
    """The lines of a block that are not blank, without surrounding whitespace.

    Line i is ``block[starts[i]:ends[i]]``, and ``numbers[i]`` its number in the file, from 1.
    """

    block: bytes
    starts: I64
    ends: I64
    numbers: I64

    @classmethod
    def of(cls, block: bytes, first: int) -> Lines:
        """Return the lines of a block; its first line has the number ``first``."""
        data = bytes_in(block)
        feeds = np.flatnonzero(data == _LINE_FEED)
        starts, ends = np.append(0, feeds + 1), np.append(feeds, len(block))
        rows = np.flatnonzero(starts < ends)
        starts, ends = starts[rows], ends[rows]
        ends -= data[ends - 1] == _RETURN
        blank = (_IS_BLANK[data[starts]] | _IS_BLANK[data[ends - 1]]) & (starts < ends)
        for at in np.flatnonzero(blank).tolist():
            line = block[starts[at] : ends[at]]
            starts[at] += len(line) - len(line.lstrip())
            ends[at] = starts[at] + len(line.strip())
        if (starts == ends).any():
            rows, starts, ends = (array[starts < ends] for array in (rows, starts, ends))
        return cls(block, starts, ends, rows + first)

    def __getitem__(self, rows: Any) -> Lines:
        """Return some of the lines."""
        return Lines(self.block, self.starts[rows], self.ends[rows], self.numbers[rows])

    @cached_property
    def texts(self) -> pa.Array:
        """The lines as large_binary."""
        return cut(self.block, self.starts, self.ends)


def bytes_in(block: bytes) -> U8:
    """Return the bytes of a block as numbers, without a copy."""
    return np.frombuffer(block, np.uint8)


def cut(
    block: bytes, starts: I64, ends: I64, absent: Bools | None = None, kind: pa.DataType = _BYTES
) -> pa.Array:
    """Return n texts of a block, in ascending order, as large_binary or large_string.

    A text that is ``absent`` is null.
    """
    # Texts 0 to 2 and 5 to 9: between the bounds 0 2 5 9 are three texts, of which the second is
    # skipped.
    bounds = np.stack([starts, ends], axis=1).ravel()
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(block)]
    texts = pa.Array.from_buffers(kind, max(len(bounds) - 1, 0), buffers)
    rows = pa.array(np.arange(0, len(bounds), 2), mask=absent)
    return texts.take(rows) if len(rows) else pa.array([], kind)


def line_blocks_of(
    stream: InputStream, name: str, size: int = BLOCK
) -> Iterator[tuple[int, bytes]]:
    """Return blocks of whole lines of a stream, each with the number of its first line."""
    begun = begin_text(stream.plain, name, "text")
    return line_blocks(stream.plain, size, begun=begun)


def read_list(stream: InputStream, options: ReadOptions) -> Rows:
    """Return a list of addresses as one column, named by the first key; it need not be UTF-8."""
    column = next(iter(options.keys), "ip")
    check_columns(options, [column])
    schema = pa.schema([(column, pa.large_string())])

    def parse(numbered: tuple[int, bytes]) -> Block:
        lines = Lines.of(numbered[1], numbered[0])
        texts = cut(lines.block, lines.starts, lines.ends, kind=pa.large_string())
        return Block(pa.record_batch([texts], schema=schema), lines.numbers)

    return Rows(schema, line_blocks_of(stream, options.name), parse)
