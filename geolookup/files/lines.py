"""Lines of texts, and lists of addresses: files of one address per line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.dataset.intervals import I64
from geolookup.files.byte_streams import InputStream
from geolookup.files.row_streams import Block, ReadOptions, Rows, begin_text, check_columns
from geolookup.files.text_blocks import line_blocks

#: Bytes of a block: its columns fit into a core's cache.
BLOCK = 1 << 21
_TEXT = pa.large_string()


@dataclass(frozen=True)
class Lines:
    """The lines of a block that are not blank, without surrounding whitespace.

    ``texts`` are large_binary, ``numbers`` the numbers of the lines in the file, from 1.
    """

    texts: pa.Array
    numbers: I64

    @classmethod
    def of(cls, block: bytes, first: int) -> Lines:
        """Return the lines of a block; its first line has the number ``first``."""
        texts = pc.ascii_trim_whitespace(lines_in(block))
        is_used = pc.not_equal(texts, "")
        numbers = np.flatnonzero(is_used) + first
        return cls(texts.filter(is_used).view(pa.large_binary()), numbers)


def lines_in(block: bytes) -> pa.Array:
    """Return the texts between the line feeds of a block, as large_string; they can be any bytes.

    After a last line feed there is an empty text.
    """
    buffers = [None, pa.py_buffer(np.array([0, len(block)])), pa.py_buffer(block)]
    whole = pa.Array.from_buffers(_TEXT, 1, buffers)
    return pc.split_pattern(whole, "\n").flatten()


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
    schema = pa.schema([(column, _TEXT)])

    def parse(numbered: tuple[int, bytes]) -> Block:
        lines = Lines.of(numbered[1], numbered[0])
        batch = pa.record_batch([lines.texts.view(_TEXT)], schema=schema)
        return Block(batch, lines.numbers)

    return Rows(schema, line_blocks_of(stream, options.name), parse)
