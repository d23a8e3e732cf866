"""The line that each record of a delimited file begins on: what ``locate`` says, of all at once.

Strategy: where every line with quotes closes them, a record is a line that is
not empty, which numpy sees block by block. A file with a line break in a
cell, or with quotes in odd places, goes through the standard CSV reader.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from functools import partial
from typing import IO, Literal

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64
from geolookup_builder.sources.reading.damage import unlimited_cells
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.layout import Layout
from geolookup_builder.sources.reading.mask import masked

_BLOCK_BYTES = 16 << 20
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


def record_lines(member: Member, records: I64, *, layout: Layout) -> I64:
    """Return the first line of each record; the first behind a header is record 1."""
    lines = _plain(member, layout)
    if lines is None:
        lines = _any(member, layout)
    return lines[records if layout.header else records - 1]


def _plain(member: Member, layout: Layout) -> I64 | None:
    """Return the lines that are not empty; None where records are not lines."""
    found, passed = [np.empty(0, np.int64)], 1
    with member.open() as stream:
        for block in _whole_lines(masked(stream, layout)):
            letters = np.frombuffer(block, np.uint8)
            ends = np.flatnonzero(letters == _LINE_FEED)
            if not _is_plain(block, letters, ends, layout):
                return None
            begins = np.append(0, ends[:-1] + 1)
            empty = (begins == ends) | ((begins + 1 == ends) & (letters[begins] == _RETURN))
            found.append(np.flatnonzero(~empty) + passed)
            passed += len(ends)
    return np.concatenate(found)


def _whole_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield blocks that end in a line feed, without a byte order mark."""
    pending = stream.read(len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
    for piece in iter(partial(stream.read, _BLOCK_BYTES), b""):
        whole, newline, pending = (pending + piece).rpartition(b"\n")
        if newline:
            yield whole + newline
    if pending:
        yield pending + b"\n"


def _is_plain(block: bytes, letters: NDArray[np.uint8], ends: I64, layout: Layout) -> bool:
    """Return whether each line is one record: quotes open at a cell's start and close again."""
    if block.count(b"\r") != block.count(b"\r\n"):
        return False
    if not layout.quoted or _QUOTE not in block:
        return True
    quotes = np.flatnonzero(letters == _QUOTE)
    if np.any(np.searchsorted(quotes, ends) % 2):
        return False
    opening = quotes[::2]  # or the second half of a doubled one
    before = letters[opening[opening > 0] - 1]
    return bool(np.isin(before, (ord(layout.delimiter), _LINE_FEED, _QUOTE)).all())


def _any(member: Member, layout: Layout) -> I64:
    with (
        member.open() as stream,
        unlimited_cells(),
        io.TextIOWrapper(masked(stream, layout), "utf-8-sig", errors="replace", newline="") as text,
    ):
        return np.fromiter(_begins(text, layout), np.int64)


def _begins(text: io.TextIOWrapper, layout: Layout) -> Iterator[int]:
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    rows, passed = csv.reader(text, delimiter=layout.delimiter, quoting=quoting), 0
    for row in rows:
        if row:  # Arrow passes over empty lines too
            yield passed + 1
        passed = rows.line_num
