"""Lines of a text file that are no rows, emptied on the way to the reader."""

from __future__ import annotations

import io
import re
from typing import IO

from builder.sources.layout import Layout

_BLOCK_BYTES = 1 << 20


def masked(stream: IO[bytes], layout: Layout) -> IO[bytes]:
    """Return the stream with the lines of ``layout.mask`` emptied."""
    return stream if layout.mask is None else _Masked(stream, layout.mask)  # type: ignore[return-value]


class _Masked(io.RawIOBase):
    """A stream whose masked lines read as empty ones; works on whole lines."""

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
            if not block:
                self._ready, self._pending = self._mask.sub(b"\n", self._pending), b""
                break
            whole, newline, self._pending = (self._pending + block).rpartition(b"\n")
            self._ready = self._mask.sub(b"\n", whole + newline)
        if size < 0:
            data, self._ready = self._ready, b""
            return data + (self.read() if data else b"")
        data, self._ready = self._ready[:size], self._ready[size:]
        return data
