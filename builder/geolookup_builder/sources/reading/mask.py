"""Lines of a text file that are no rows, emptied on the way to the reader."""

from __future__ import annotations

import io
import re
from typing import IO

from geolookup_builder.sources.reading.layout import Layout

_BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 16 << 20  # no reader takes a longer one


def masked(stream: IO[bytes], layout: Layout) -> IO[bytes]:
    """Return the stream with the lines of ``layout.mask`` emptied."""
    return stream if layout.mask is None else _Masked(stream, layout.mask)  # type: ignore[return-value]


class _Masked(io.RawIOBase):
    """A stream whose masked lines read as empty ones; works on whole lines, all ended alike."""

    def __init__(self, stream: IO[bytes], mask: re.Pattern[bytes]) -> None:
        super().__init__()
        self._stream, self._mask = stream, mask
        self._pending = self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self.read(len(target))
        target[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        while not self._ready:
            block = self._stream.read(_BLOCK_BYTES if size < 0 else max(size, 1 << 16))
            pending = self._pending + block
            cut = _end_of_lines(pending) if block else len(pending)
            self._ready = self._mask.sub(b"\n", _with_newlines(pending[:cut]))
            self._pending = pending[cut:]
            if not block:
                break
        if size < 0:
            data, self._ready = self._ready, b""
            return data + (self.read() if data else b"")
        data, self._ready = self._ready[:size], self._ready[size:]
        return data


def _end_of_lines(data: bytes) -> int:
    """Return where the last whole line ends; a carriage return may be half of a line end."""
    cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
    return cut if cut or len(data) < _LONGEST_LINE else len(data)


def _with_newlines(lines: bytes) -> bytes:
    return lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in lines else lines
