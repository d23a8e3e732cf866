"""The line and text of rejected records of a delimited file, found in a second pass over it.

Reading a file notes only record numbers. Where every line with quotes closes them, a record is a
line that is not empty, and numpy finds these block by block. A file with a line break in a cell, or
with quotes elsewhere, is read by the standard CSV reader.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64
from geolookup.files.text_blocks import record_blocks
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import Reject
from geolookup_builder.sources.reading.text import Layout, mask_lines, unlimited_cells

BLOCK_BYTES = 16 << 20
#: Beyond the end of a file.
_NO_LINE = 1 << 62
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


def find_rejects(member: Member, reasons: dict[int, str], *, layout: Layout) -> Iterator[Reject]:
    """Yield the records whose numbers are in ``reasons``, with line and text.

    The first record, after a header if there is one, is 1.
    """
    starts = np.append(_record_lines(member, layout), _NO_LINE)
    at = np.array(sorted(reasons), np.int64) - (not layout.header)
    # A record goes up to the next one; if lines are masked, it is a line.
    ends = starts[at + 1] if layout.mask is None else starts[at] + 1
    yield from rejects_between(member, reasons, starts[at], ends)


def rejects_between(
    member: Member,
    reasons: dict[int, str],
    begins: I64,
    ends: I64,
    newline: str = "",
    most: int | None = None,
) -> Iterator[Reject]:
    """Yield the wanted records, in order of their numbers, each with its first line and its text.

    The text of the nth are the lines from ``begins[n]`` up to ``ends[n]``, at most ``most``
    characters.
    """
    with (
        member.open() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline=newline) as text,
    ):
        line = 1
        spans = zip(sorted(reasons.items()), begins.tolist(), ends.tolist(), strict=True)
        for (_, reason), begin, end in spans:
            # The lines from ``line`` on are unread: skip begin - line of them.
            record = "".join(islice(text, begin - line, end - line)).rstrip("\r\n")
            line = end
            yield Reject(member.label, begin, reason, record[:most])


def _record_lines(member: Member, layout: Layout) -> I64:
    """Return the line that each record begins on, the header too."""
    lines = _lines_as_records(member, layout)
    return _parsed_records(member, layout) if lines is None else lines


def _lines_as_records(member: Member, layout: Layout) -> I64 | None:
    """Return the lines that are not empty; None if a record may span lines."""
    parts, line = [np.empty(0, np.int64)], 1
    with member.open() as stream:
        for _, lines in record_blocks(stream, BLOCK_BYTES, layout.delimiter, quoted=False):
            block = mask_lines(lines, layout)
            block = block if block.endswith(b"\n") else block + b"\n"
            data = np.frombuffer(block, np.uint8)
            ends = np.flatnonzero(data == _LINE_FEED)
            if not _one_record_a_line(block, data, ends, layout):
                return None
            begins = np.append(0, ends[:-1] + 1)
            # An empty line, or one of only a carriage return.
            empty = (begins == ends) | ((begins + 1 == ends) & (data[begins] == _RETURN))
            parts.append(np.flatnonzero(~empty) + line)
            line += len(ends)
    return np.concatenate(parts)


def _one_record_a_line(block: bytes, data: NDArray[np.uint8], ends: I64, layout: Layout) -> bool:
    """Return whether each line is one record: quotes open at a cell's start and close again."""
    if block.count(b"\r") != block.count(b"\r\n"):
        return False
    if not layout.quoted or _QUOTE not in block:
        return True
    quotes = np.flatnonzero(data == _QUOTE)
    # How many quotes are before each line end: odd if one is still open there.
    if np.any(np.searchsorted(quotes, ends) % 2):
        return False
    # Quotes 0, 2, 4, ... open a cell: "a","b" has them at 0 and 4.
    opening_quotes = quotes[::2]  # or the second half of a doubled quote
    before = data[opening_quotes[opening_quotes > 0] - 1]
    return bool(np.isin(before, (ord(layout.delimiter), _LINE_FEED, _QUOTE)).all())


def _parsed_records(member: Member, layout: Layout) -> I64:
    with (
        member.open() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="") as text,
        unlimited_cells(),
    ):
        return np.fromiter(_record_starts(text, layout), np.int64)


def _record_starts(text: io.TextIOWrapper, layout: Layout) -> Iterator[int]:
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    rows, line = csv.reader(text, delimiter=layout.delimiter, quoting=quoting), 0
    for row in rows:
        if row:  # Arrow skips empty lines too
            yield line + 1
        line = rows.line_num
