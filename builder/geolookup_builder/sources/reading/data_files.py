"""Which files and members of archives hold data, and how much they may unpack to.

A source has one budget for all of its compressed files, and each archive one of its own within it.
A file that is read twice counts once.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from geolookup.errors import BuildError, name_text
from geolookup.filesystem import limits

Opener = Callable[[], AbstractContextManager[Any]]
#: Files of an archive that hold no data: resource forks of macOS, licences, instructions.
_NO_DATA = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)
UNPACK = "unpack the archive before the build"
_Key = TypeVar("_Key")
_LISTED = 3  # other members, in messages
_TRUSTED = "if you trust the file, unpack it before the build"


def holds_no_data(name: str) -> bool:
    """Return whether a file is a licence, an instruction or a resource fork, by its name."""
    return _NO_DATA.search(name) is not None


def is_data(name: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a member holds data: it has one of the suffixes and is not a licence."""
    return name.lower().endswith(suffixes) and not holds_no_data(name)


def data(path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]) -> list[_Key]:
    """Return the keys of the names that are data files; BuildError if there is none."""
    keys = [key for key, name in names.items() if is_data(name, suffixes)]
    if not keys:
        endings = " or ".join(filter(None, suffixes))  # an empty suffix matches any file
        problem = f"no {endings} file in the archive" if endings else "no file in the archive"
        raise BuildError(path, f"{problem}{_others(names.values())}", remedy="name another file")
    return keys


def _others(names: Collection[str]) -> str:
    first = ", ".join(map(name_text, islice(names, _LISTED)))
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f", but {first}{more}" if names else ""


def link_error(label: str) -> BuildError:
    """Return the error for a data file of an archive that is a link, a device, a FIFO or sparse."""
    return BuildError(label, "not a regular file", remedy=UNPACK)


class Budget:
    """The bytes that the compressed files at a path may unpack to; BuildError beyond them."""

    def __init__(self, label: str, parent: Budget | None = None) -> None:
        self._label, self._parent = label, parent
        self._packed_bytes = self._unpacked_bytes = 0

    def of_file(self, path: Path) -> Budget:
        """Return the budget of one compressed file, within this one."""
        size = path.stat().st_size
        self._packed_bytes += size
        budget = Budget(str(path), self)
        budget._packed_bytes = size
        return budget

    def take(self, size: int) -> None:
        """Count unpacked bytes."""
        self.check(size)
        self._unpacked_bytes += size
        if self._parent is not None:
            self._parent.take(size)

    def check(self, size: int) -> None:
        """Raise BuildError if so many bytes more would exceed the budget."""
        # The limit grows with the packed bytes; see ``filesystem.limits``.
        if self._unpacked_bytes + size > limits.allowed_bytes(self._packed_bytes):
            raise BuildError(self._label, limits.excess(), remedy=_TRUSTED)
        if self._parent is not None:
            self._parent.check(size)

    def limited_stream(self, extent: Extent, stream: IO[bytes]) -> LimitedStream:
        """Return a stream of unpacked bytes that counts the bytes beyond earlier streams."""
        return LimitedStream(stream, self, extent)

    def check_members(self, count: int) -> None:
        """Raise BuildError for more members than an archive may have."""
        if count > limits.ALLOWED_MEMBERS:
            problem = f"has over {limits.ALLOWED_MEMBERS:,} members"
            raise BuildError(self._label, problem, remedy=_TRUSTED)


class Extent:
    """How far a compressed file was read, over all of its streams."""

    def __init__(self) -> None:
        self.bytes = 0


class LimitedStream(io.RawIOBase):
    """The unpacked bytes of a file, counted against a budget."""

    def __init__(self, stream: IO[bytes], budget: Budget, extent: Extent) -> None:
        super().__init__()
        self._stream, self._budget, self._extent = stream, budget, extent
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
        if self._position > self._extent.bytes:
            self._budget.take(self._position - self._extent.bytes)
            self._extent.bytes = self._position
        return data
