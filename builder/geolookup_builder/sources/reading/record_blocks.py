"""Delimited text in blocks of whole records, which threads can parse independently.

A block ends at a line feed with an even number of quotes before it. If every opening quote is the
first character of its cell, as RFC 4180 requires, every reader ends a record there. If a quote is
elsewhere, readers differ, so the text from there on is not split.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import IO

import numpy as np

from geolookup_builder.sources.reading.text import Layout

_LINE_FEED, _QUOTE = b'\n"'


class RecordBlocks:
    """Splits a stream into blocks of about ``size`` bytes; the first one includes any header.

    ``rest`` is the text after the last block, if it cannot be split, else None. ``quotes`` is
    the number of quotes in a last record without a line feed.
    """

    def __init__(self, stream: IO[bytes], layout: Layout, size: int) -> None:
        self._stream, self._layout, self._size = stream, layout, size
        self.rest: IO[bytes] | None = None
        self.quotes = 0

    def __iter__(self) -> Iterator[memoryview]:
        """Yield the blocks."""
        text = self._read().removeprefix(codecs.BOM_UTF8)
        while end := self._end_of_records(text):
            yield memoryview(text)[:end]
            following = self._read()
            text = text[end:] + following
            if not following:
                self.quotes = text.count(_QUOTE)
                if text:
                    yield memoryview(text)
                return
        self.rest = _Rest(text, self._stream)  # type: ignore[assignment]

    def _read(self) -> bytes:
        """Read ``size`` bytes, or fewer at the end; decompressors return small parts."""
        parts, missing = [], self._size
        while missing > 0 and (part := self._stream.read(missing)):
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _end_of_records(self, text: bytes) -> int:
        """Return where the last whole record of the text ends; 0 if that is uncertain."""
        end = text.rfind(_LINE_FEED) + 1
        if not self._layout.quoted or text.find(_QUOTE) < 0:
            return end
        data = np.frombuffer(text, np.uint8)
        quotes = np.flatnonzero(data == _QUOTE)
        opening = quotes[::2]  # or the second quote of a doubled one
        before = data[opening[opening > 0] - 1]
        starts = (before == ord(self._layout.delimiter)) | (before == _LINE_FEED)
        if not np.all(starts | (before == _QUOTE)):
            return 0
        while (passed := int(np.searchsorted(quotes, end))) % 2:
            # Inside a cell: try the last line feed before the quote that opens it.
            end = text.rfind(_LINE_FEED, 0, int(quotes[passed - 1])) + 1
        return end


class _Rest(io.RawIOBase):
    """A stream of a text that was already read, then of the rest of another stream."""

    def __init__(self, text: bytes, stream: IO[bytes]) -> None:
        super().__init__()
        self._text, self._stream = text, stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._text:
            return self._stream.read(size)
        end = len(self._text) if size < 0 else size
        found, self._text = self._text[:end], self._text[end:]
        # Read a full block: a record may be longer than the rest of the text.
        return found + self._stream.read(-1 if size < 0 else size - len(found))
