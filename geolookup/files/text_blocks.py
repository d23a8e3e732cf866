r"""Texts in blocks of whole lines, or of whole records of CSV: threads can parse them apart.

A quote opens a cell only at the beginning of the cell (RFC 4180, and Arrow's parser). Elsewhere it
is a character. A line feed ends a record unless it is in an open cell:

    a,"x\n  the record goes on: one quote before, so the cell is open
    y",5"\n  it ends: the quote after 5 opens nothing
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
_CHECK_FORMAT = "check that the file is of the format"
_CLOSE = "close it; a quote inside a quoted cell is written twice"
_SHORTEN = "close the quote of its cell, or shorten it"
#: Bytes of a line, and of a record of CSV: each is held in memory as a whole.
LONGEST_LINE, LONGEST_RECORD = 1 << 28, 1 << 24


class TextError(ValueError):
    """A text that cannot be read: problem, remedy and, if known, the line, from 1.

    ``row`` is the row of its block, from 0, if only that is known.
    """

    def __init__(
        self, problem: str, remedy: str, line: int | None = None, row: int | None = None
    ) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.line, self.row = problem, remedy, line, row


def line_blocks(
    stream: Any, size: int, longest: int | None = None, begun: bytes = b""
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line, from 1.

    The last line can lack its line feed. ``begun`` is the part of the stream that was read
    before. A byte order mark is skipped. Raises TextError for a line of more than
    ``longest`` bytes, by default ``LONGEST_LINE``.
    """
    return _blocks(
        stream, size, longest or LONGEST_LINE, begun, lambda text: (text.rfind(b"\n") + 1, False)
    )


def record_blocks(
    stream: Any, size: int, delimiter: str, *, quoted: bool = True, begun: bytes = b""
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole records as ``line_blocks`` does.

    Raises TextError for a quote that is never closed, and for a record of more than
    ``LONGEST_RECORD`` bytes. Unless ``quoted``, a quote is a character like any other.
    """

    def end(text: bytes) -> tuple[int, bool]:
        return _end_of_records(text, delimiter) if quoted else (_end_of_lines(text), False)

    return _blocks(stream, size, max(LONGEST_RECORD, 2 * size), begun, end)


def _blocks(
    stream: Any, size: int, longest: int, begun: bytes, end_of: Callable[[bytes], tuple[int, bool]]
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks; ``end_of`` returns the end of the last whole unit, and if a cell is open."""
    line, pending = 1, read_full(stream, size, begun).removeprefix(codecs.BOM_UTF8)
    following = pending
    while following:
        end, is_open = end_of(pending)
        if end:
            block, pending = pending[:end], pending[end:]
            yield line, block
            # Without a line feed, carriage returns end lines.
            line += block.count(b"\n") or block.count(b"\r")
        elif len(pending) > longest:
            problem = f"a line or record of more than {longest:,} bytes"
            remedy = _SHORTEN if is_open else _CHECK_FORMAT
            raise TextError(problem, remedy, line)
        following = read_full(stream, size)
        pending += following
    if pending:
        if end_of(pending)[1]:
            raise TextError("a quote is never closed", _CLOSE, line)
        yield line, pending


def read_full(stream: Any, size: int, begun: bytes = b"") -> bytes:
    """Read ``size`` bytes, fewer only at the end; pipes and decompressors return small parts."""
    parts, missing = [begun] if begun else [], size - len(begun)
    while missing > 0 and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)  # a single part is returned itself


def _end_of_lines(text: bytes, before: int | None = None) -> int:
    """Return where the last whole line ends; a last carriage return may be half a line end."""
    before = len(text) if before is None else before
    end = text.rfind(b"\n", 0, before) + 1
    # Without a line feed a carriage return ends a line; the last byte could be half of "\r\n".
    return end or text.rfind(b"\r", 0, min(before, len(text) - 1)) + 1


def _end_of_records(text: bytes, delimiter: str) -> tuple[int, bool]:
    """Return where the last whole record ends, 0 if none does, and if a cell after it is open."""
    end = _end_of_lines(text)
    if text.find(_QUOTE) < 0:
        return end, False
    data = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(data == _QUOTE)
    opening = quotes[::2]  # or the second quote of a doubled one
    before = data[opening[opening > 0] - 1]
    if not np.isin(before, (ord(delimiter), _LINE_FEED, _RETURN, _QUOTE)).all():
        return _end_among_other_quotes(text, delimiter)
    # An odd number of quotes before ``end``: a cell is open at ``end``.
    while end and (passed := int(np.searchsorted(quotes, end))) % 2:
        # In an open cell: try the last line feed before the quote that opens it.
        end = _end_of_lines(text, int(quotes[passed - 1]))
    return end, bool(len(quotes) % 2)


def _end_among_other_quotes(text: bytes, delimiter: str) -> tuple[int, bool]:
    """Return the same for texts with quotes inside plain cells: a pattern matches each cell."""
    records, quoted = _patterns(delimiter)
    whole = records.match(text)
    end, is_open = whole.end() if whole else 0, False
    # After the last whole record; its last group is the closing quote, None if it is missing.
    for cell in quoted.finditer(text, end):
        is_open = cell.lastindex is None
    return end, is_open


@lru_cache
def _patterns(delimiter: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the patterns of whole records, and of a quoted cell whose group is the closing quote.

    They do not backtrack (``*+``, ``++``), in time and memory.
    """
    mark = re.escape(delimiter)
    # After a closing quote, or in a plain cell: everything up to the delimiter or line end.
    tail = rf"[^{mark}\r\n]*+"
    cell = rf'(?:"(?:[^"]++|"")*+"{tail}|[^"{mark}\r\n]{tail}|)'
    records = rf"(?:{cell}(?:{mark}{cell})*+(?:\n|\r\n|\r(?=[^\n])))*+"
    quoted = rf'(?:(?<=[\r\n{mark}])|\A)"(?:[^"]++|"")*+(")?'
    return re.compile(records.encode()), re.compile(quoted.encode())
