"""Which files and members of archives hold data, and how much they may unpack to.

A source has one budget for all of its compressed files, and each archive one of its own within it.
A file that is read twice counts once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, TypeVar

from geolookup.errors import BuildError
from geolookup.filesystem import limits

Opener = Callable[[], AbstractContextManager[Any]]
#: Files of an archive that hold no data: resource forks of macOS, licences, instructions.
_NO_DATA = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)
UNPACK = "unpack the archive before the build"
_Key = TypeVar("_Key")
_TRUSTED = "if you trust the file, unpack it before the build"


def holds_no_data(name: str) -> bool:
    """Return whether a name is that of a licence, an instruction or a resource fork."""
    return _NO_DATA.search(name) is not None


def is_data(name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a member holds data: it has one of the suffixes and is not a licence."""
    return name.lower().endswith(suffixes) and not holds_no_data(name)


def data(path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]) -> list[_Key]:
    """Return the keys of the names that are data files; BuildError if there is none."""
    keys = [key for key, name in names.items() if is_data(name, suffixes)]
    if not keys:
        listed = " or ".join(filter(None, suffixes))  # an empty suffix is that of any file
        problem = f"no {listed} file in the archive" if listed else "no file in the archive"
        raise BuildError(path, problem, remedy="name another file")
    return keys


def link_error(label: str) -> BuildError:
    """Return the error for a data file of an archive that is a link, a device, a FIFO or sparse."""
    return BuildError(label, "not a regular file", remedy=UNPACK)


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
        self.check(size)
        self._unpacked += size
        if self._whole is not None:
            self._whole.take(size)

    def check(self, size: int) -> None:
        """Raise BuildError if so many bytes more would exceed the budget."""
        # The limit grows with the packed bytes; see ``filesystem.limits``.
        if self._unpacked + size > limits.allowed_bytes(self._packed):
            raise BuildError(self._label, limits.excess(), remedy=_TRUSTED)
        if self._whole is not None:
            self._whole.check(size)

    def counted(self, passed: Passed, stream: IO[bytes]) -> LimitedStream:
        """Return a stream of unpacked bytes that counts the bytes beyond earlier streams."""
        return LimitedStream(stream, self, passed)

    def check_members(self, count: int) -> None:
        """Raise BuildError for more members than an archive may have."""
        if count > limits.ALLOWED_MEMBERS:
            problem = f"has over {limits.ALLOWED_MEMBERS:,} members"
            raise BuildError(self._label, problem, remedy=_TRUSTED)


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
        # Only bytes that no earlier stream has reached.
        if self._position > self._passed.bytes:
            self._budget.take(self._position - self._passed.bytes)
            self._passed.bytes = self._position
        return data
