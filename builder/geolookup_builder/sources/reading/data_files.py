"""Which files and members of archives hold data, and how much they may unpack to."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
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
    """Return the keys of the names that are data files, by name; BuildError if there is none."""
    keys = [key for key, name in names.items() if is_data(name, suffixes)]
    if not keys:
        endings = " or ".join(filter(None, suffixes))  # an empty suffix matches any file
        problem = f"no {endings} file in the archive" if endings else "no file in the archive"
        raise BuildError(path, f"{problem}{_others(names.values())}", remedy="name another file")
    return sorted(keys, key=names.__getitem__)


def _others(names: Collection[str]) -> str:
    first = ", ".join(map(name_text, islice(names, _LISTED)))
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f", but {first}{more}" if names else ""


class Budget:
    """The bytes that the compressed files of a source may unpack to; BuildError beyond them."""

    def __init__(self, label: str) -> None:
        self._label = label
        self.others = list[str]()  # labels of files of archives that are not read
        self._packed_bytes = self._unpacked_bytes = 0

    def add(self, path: Path) -> None:
        """Count a compressed file: the limit grows with it; see ``filesystem.limits``."""
        self._packed_bytes += path.stat().st_size

    def leave(self, label: str) -> None:
        """Note a file of an archive that is not read, unless it holds no data by its name."""
        if not label.endswith("/") and not holds_no_data(label.partition("!")[2]):
            self.others.append(label)

    def check(self, size: int) -> None:
        """Raise BuildError if so many bytes more would exceed the budget."""
        if self._unpacked_bytes + size > limits.allowed_bytes(self._packed_bytes):
            raise BuildError(self._label, limits.excess(), remedy=_TRUSTED)

    def check_members(self, count: int) -> None:
        """Raise BuildError for more members than an archive may have."""
        if count > limits.ALLOWED_MEMBERS:
            problem = f"has over {limits.ALLOWED_MEMBERS:,} members"
            raise BuildError(self._label, problem, remedy=_TRUSTED)

    def limited(self, opener: Opener) -> Opener:
        """Return an opener whose unpacked bytes are counted; bytes that are read again are not."""
        furthest = 0

        def reach(position: int) -> None:
            nonlocal furthest
            self.check(max(0, position - furthest))
            self._unpacked_bytes += max(0, position - furthest)
            furthest = max(furthest, position)

        @contextmanager
        def open_stream() -> Iterator[LimitedStream]:
            with opener() as stream:
                yield LimitedStream(stream, reach)

        return open_stream


class LimitedStream(io.RawIOBase):
    """The unpacked bytes of a file; ``reach`` is called with each position that is read to."""

    def __init__(self, stream: IO[bytes], reach: Callable[[int], None]) -> None:
        super().__init__()
        self._stream, self._reach, self._position = stream, reach, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""
        if size < 0:
            return self.readall() or b""
        data = self._stream.read(size)
        self._position += len(data)
        self._reach(self._position)
        return data
