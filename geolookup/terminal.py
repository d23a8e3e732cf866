r"""Streams to a terminal: text from outside cannot act on it, our own sequences can.

A terminal obeys control characters: ``\x1b]0;…\x07`` sets its title, ``\r`` overwrites a line, and
U+202E reverses text. On a terminal they are written as in JSON, such as ``\u001b``. Files and pipes
get unchanged bytes.

Strategy: all output passes one filter. Sequences of ours are between two marks. The filter removes
the marks. Text from outside cannot contain a mark: it is random, and new in each process.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from io import BufferedIOBase, IncrementalNewlineDecoder, TextIOWrapper
from typing import Any, TextIO

from geolookup.errors import CONTROLS

_MARK = os.urandom(16).hex()
_ESCAPED = "".join(sorted(map(chr, CONTROLS - {*map(ord, "\t\n\r")})))
#: A carriage return before a line feed is part of a line's end.
_CONTROL = re.compile(rf"[{re.escape(_ESCAPED)}]|\r(?!\n)")


def filter_terminals() -> None:
    """Filter standard output and standard error, each if it is a terminal."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)  # None: a process may be started without it
        if stream is not None and stream.isatty() and not isinstance(stream, _FilteredStream):
            setattr(sys, name, _FilteredStream(stream))


def own_sequence(sequence: str, stream: TextIO) -> str:
    """Return control characters of ours, such as a colour, as a stream lets them pass."""
    return f"{_MARK}{sequence}{_MARK}" if isinstance(stream, _FilteredStream) else sequence


class _FilteredStream(TextIOWrapper):
    """A text stream to a terminal; its ``buffer`` filters bytes likewise."""

    def __init__(self, stream: TextIO) -> None:
        stream.flush()
        filtered: Any = _FilteredBytes(stream)
        super().__init__(filtered, stream.encoding, stream.errors, line_buffering=True)


class _FilteredBytes(BufferedIOBase):
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream  # the text stream: it would close the bytes when it is deleted
        decoder = codecs.getincrementaldecoder(stream.encoding)("backslashreplace")
        # It keeps the beginning of a character, and \r, until the next bytes: \n may be the first.
        self._decoder = IncrementalNewlineDecoder(decoder, translate=False)

    def write(self, data: Any) -> int:
        """Write all bytes; the beginning of a character waits for its end."""
        content = bytes(data)
        text = _filter_text(self._decoder.decode(content))
        self._stream.buffer.write(text.encode(self._stream.encoding, "backslashreplace"))
        return len(content)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        self._stream.buffer.flush()

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()


def _filter_text(text: str) -> str:
    # "a", mark, a colour, mark, "b": the parts at 1, 3 and so on are ours.
    parts = text.split(_MARK)
    parts[::2] = [_CONTROL.sub(_escape, part) for part in parts[::2]]
    return "".join(parts)


def _escape(control: re.Match[str]) -> str:
    return f"\\u{ord(control[0]):04x}"
