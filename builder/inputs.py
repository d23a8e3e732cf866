"""The files a source names: globs, plain and compressed files, members of archives.

Strategy: a source sees a list of members, each of which can be opened more
than once as a stream of plain bytes. Nothing is unpacked to disk. Whatever
goes wrong underneath becomes one BuildError that names the member.
"""

from __future__ import annotations

import glob
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from builder.errors import BuildError

Opener = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Member:
    """One input of plain bytes; ``label`` is how messages name it."""

    label: str
    opener: Opener

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the plain bytes; what cannot be read is a BuildError."""
        with explained(self.label), self.opener() as stream:
            yield stream


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Turn what files and decompressors raise into one clear line."""
    try:
        yield
    except _DAMAGE as error:
        raise BuildError(label, f"truncated or damaged ({error})", remedy=_AGAIN) from error
    except OSError as error:
        text = error.strerror or str(error)
        damaged = error.errno is None  # raised by a decompressor, not by the system
        problem = f"truncated or damaged ({text})" if damaged else f"cannot be read ({text})"
        raise BuildError(label, problem, remedy=_AGAIN if damaged else None) from error
    except (RuntimeError, NotImplementedError) as error:  # zipfile: encrypted, unknown method
        raise BuildError(label, f"cannot be unpacked ({error})", remedy="unpack it") from error


_AGAIN = "fetch it again"
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile)


def members(pattern: str, base: Path, suffixes: tuple[str, ...]) -> list[Member]:
    """Return what ``pattern`` (relative to ``base``) names, in bytewise order of the paths.

    Of an archive, the members with one of ``suffixes`` are taken, by name.
    Raises BuildError where nothing is there.
    """
    found = [member for path in _paths(pattern, base) for member in _of_path(path, suffixes)]
    if not found:
        raise BuildError(base / pattern, "no such file", remedy="correct the path in the recipe")
    return found


def _paths(pattern: str, base: Path) -> list[Path]:
    literal = base / pattern
    with explained(str(literal)):  # a name longer than the system allows
        if literal.exists() or not any(letter in pattern for letter in "*?["):
            return [literal]
    # A set, for a pattern with ** twice may find a path more than once.
    found = {base / match for match in glob.iglob(pattern, root_dir=base, recursive=True)}
    return sorted((path for path in found if path.is_file()), key=os.fsencode)


def _of_path(path: Path, suffixes: tuple[str, ...]) -> list[Member]:
    if not path.exists():
        raise BuildError(path, "no such file", remedy="correct the path in the recipe")
    if not path.is_file():
        raise BuildError(path, "not a file", remedy="name a file or a glob of files")
    with explained(str(path)):
        if path.stat().st_size == 0:
            raise BuildError(path, "empty file", remedy="fetch it again")
        return _OPENERS.get(path.suffix.lower(), _plain)(path, suffixes)


def _plain(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    return [Member(str(path), lambda: path.open("rb"))]


def _gzip(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    return [Member(str(path), lambda: gzip.open(path, "rb"))]


def _zstandard(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    return [Member(str(path), lambda: pa.input_stream(str(path), compression="zstd"))]


def _zip(path: Path, suffixes: tuple[str, ...]) -> list[Member]:
    # Shared by its members, for its directory is read as a whole; closed with the last of them.
    archive = zipfile.ZipFile(path)
    found = sorted(
        (info for info in archive.infolist() if info.filename.lower().endswith(suffixes)),
        key=lambda info: info.filename,
    )
    if not found:
        listed = " or ".join(suffixes)
        raise BuildError(path, f"no {listed} file in the archive", remedy="name another file")
    return [Member(f"{path}!{info.filename}", partial(archive.open, info)) for info in found]


_OPENERS: dict[str, Callable[[Path, tuple[str, ...]], list[Member]]] = {
    ".gz": _gzip,
    ".zst": _zstandard,
    ".zip": _zip,
}
