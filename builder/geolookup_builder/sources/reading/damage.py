"""Damaged text files: the line of what Arrow reports without a line, or not at all."""

from __future__ import annotations

import codecs
import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.sources.reading.inputs import Member

_CHUNK = 1 << 20


def arrow_failure(
    member: Member, error: pa.ArrowInvalid, not_utf8: str = "convert it to UTF-8"
) -> BuildError:
    """Return the error to raise for what Arrow could not parse."""
    line = _first_bad_line(member)
    if line is not None:
        return BuildError(member.label, "not UTF-8", line=line, remedy=not_utf8)
    problem = f"not CSV ({str(error).splitlines()[0]})"
    return BuildError(member.label, problem, remedy="check that the file is whole")


def _first_bad_line(member: Member) -> int | None:
    """Return the line of the first byte that is not UTF-8, or None."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line = 1
    with member.open() as stream:
        while chunk := stream.read(_CHUNK):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            line += chunk.count(b"\n")
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return line
    return None


@contextmanager
def silent_invalid_rows() -> Iterator[None]:
    """Suppress the traceback that Arrow prints for an invalid row that is not UTF-8.

    Arrow fails to pass the text of such a row to the handler of invalid rows; the
    build ends with an ArrowInvalid of its own.
    """
    usual = sys.unraisablehook

    def hook(seen: sys.UnraisableHookArgs) -> None:
        if seen.exc_type is not UnicodeDecodeError:
            usual(seen)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = usual


class QuoteCount(io.RawIOBase):
    """A stream that counts the quotes read through it.

    An odd number may mean that a quote is never closed: Arrow then reads all rows up
    to the end of the file as one value.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes."""
        data = self._stream.read(size)
        self.count += data.count(b'"')
        return data


def check_quotes(member: Member, count: int, delimiter: str) -> None:
    """Raise BuildError where the last of ``count`` quotes is never closed."""
    line = _unclosed_quote(member, delimiter) if count % 2 else None
    if line is not None:
        remedy = "close it; a quote inside a quoted cell is written twice"
        raise BuildError(member.label, "a quote is never closed", line=line, remedy=remedy)


def _unclosed_quote(member: Member, delimiter: str) -> int | None:
    """Return the line of the last record where a row appended to the file becomes part of it."""
    row = ["\0behind", "the end"]
    begin, end, last = 1, 0, row
    with member.open() as stream, unlimited_cells():
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
        records = csv.reader(chain(text, [delimiter.join(row)]), delimiter=delimiter)
        for record in records:
            begin, end, last = end + 1, records.line_num, record
    return begin if last != row else None


@contextmanager
def unlimited_cells() -> Iterator[None]:
    """Let the standard CSV reader accept cells of any size; its global limit is restored."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
