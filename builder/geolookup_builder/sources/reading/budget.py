"""How much the compressed files of a source may unpack to, counted while they are read.

A source has one budget for all of its files, and each archive one of its own within it. A file
that is read twice counts once.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

from geolookup.errors import BuildError
from geolookup.filesystem import limits

_UNPACK = "if you trust the file, unpack it before the build"


class Budget:
    """The bytes that the compressed files at a path may unpack to; BuildError beyond them."""

    def __init__(self, label: str, whole: Budget | None = None) -> None:
        self._label, self._whole = label, whole
        self._packed = self._unpacked = 0

    def of_file(self, path: Path) -> Budget:
        """Return the budget of one compressed file, within this one."""
        size = path.stat().st_size
        self._packed += size
        part = Budget(str(path), self)
        part._packed = size
        return part

    def take(self, size: int) -> None:
        """Count unpacked bytes."""
        self._unpacked += size
        if self._unpacked > limits.allowed_bytes(self._packed):
            raise BuildError(self._label, limits.excess(), remedy=_UNPACK)
        if self._whole is not None:
            self._whole.take(size)

    def check(self, size: int) -> None:
        """Raise BuildError if so many bytes more would exceed the budget."""
        if self._unpacked + size > limits.allowed_bytes(self._packed):
            raise BuildError(self._label, limits.excess(), remedy=_UNPACK)
        if self._whole is not None:
            self._whole.check(size)

    def counted(self, passed: Passed, stream: IO[bytes]) -> LimitedStream:
        """Return a stream of unpacked bytes that counts what no earlier stream has passed."""
        return LimitedStream(stream, self, passed)

    def check_members(self, count: int) -> None:
        """Raise BuildError for more members than an archive may have."""
        if count > limits.ALLOWED_MEMBERS:
            problem = f"has over {limits.ALLOWED_MEMBERS:,} members"
            raise BuildError(self._label, problem, remedy=_UNPACK)


class Passed:
    """How far a compressed file was read, over all of its streams."""

    def __init__(self) -> None:
        self.bytes = 0


class LimitedStream(io.RawIOBase):
    """The unpacked bytes of a file, counted against a budget."""

    def __init__(self, stream: IO[bytes], budget: Budget, passed: Passed) -> None:
        super().__init__()
        self._stream, self._budget, self._passed = stream, budget, passed
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""
        if size < 0:
            return self.readall() or b""
        data = self._stream.read(size)
        self._position += len(data)
        if self._position > self._passed.bytes:
            self._budget.take(self._position - self._passed.bytes)
            self._passed.bytes = self._position
        return data
