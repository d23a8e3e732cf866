"""The files a source names: globs, plain and compressed files, members of archives.

Strategy: a source sees a list of members, each of which can be opened more
than once as a stream of plain bytes. Nothing is unpacked to disk. Whatever
goes wrong underneath becomes one BuildError that names the member.
"""

from __future__ import annotations

import errno
import glob
import gzip
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.sources.reading.unpacked import Unpacked

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
        # Raised by a decompressor, or by the system for a place that an archive names.
        damaged = error.errno in (None, errno.EINVAL)
        problem = f"truncated or damaged ({text})" if damaged else f"cannot be read ({text})"
        raise BuildError(label, problem, remedy=_AGAIN if damaged else _PLACE) from error


_AGAIN = "fetch it again"
_PLACE = "check its name and permissions"
_DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError),
)
#: What archives hold beside the data: resource forks of macOS, terms, instructions.
_BESIDE = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)


def members(pattern: str, base: Path, suffixes: tuple[str, ...]) -> list[Member]:
    """Return what ``pattern`` (relative to ``base``) names, in bytewise order of the paths.

    Of an archive, the members with one of ``suffixes`` are taken, by name.
    Raises BuildError where nothing is there.
    """
    found = [member for path in _paths(pattern, base) for member in _of_path(path, suffixes)]
    if not found:
        raise BuildError(base / pattern, "no such file", remedy="correct the path in the recipe")
    return found


def as_written(label: str, pattern: str, base: Path) -> str:
    """Return the label of a member as the recipe would write it, for a dataset holds no paths.

    A relative pattern gives a path relative to ``base``; of an absolute one the folders
    before the first wildcard are left out. Bytes that are not UTF-8 are escaped.
    """
    parts = Path(pattern).parts
    fixed = takewhile(lambda part: not _is_glob(part), parts[:-1])
    folder = Path(*fixed) if Path(pattern).is_absolute() else base
    name = label.removeprefix(str(folder).rstrip(os.sep) + os.sep).replace(os.sep, "/")
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_glob(pattern: str) -> bool:
    return any(letter in pattern for letter in "*?[")


def _paths(pattern: str, base: Path) -> list[Path]:
    literal = base / pattern
    with explained(str(literal)):  # a name longer than the system allows
        if literal.exists() or not _is_glob(pattern):
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
        return _kind(path)(path, suffixes)


def _plain(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    return [Member(str(path), lambda: path.open("rb"))]


def _gzip(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    return [Member(str(path), _unpacked(path, partial(gzip.open, path, "rb")))]


def _zstandard(path: Path, _suffixes: tuple[str, ...]) -> list[Member]:
    opener = partial(pa.input_stream, str(path), compression="zstd")
    return [Member(str(path), _unpacked(path, opener))]


def _unpacked(path: Path, opener: Opener) -> Opener:
    """Return what opens a packed file, within its limit."""

    @contextmanager
    def opened() -> Iterator[Unpacked]:
        with opener() as stream:
            yield Unpacked(stream, path)

    return opened


def _zip(path: Path, suffixes: tuple[str, ...]) -> list[Member]:
    with _readable_archive(str(path)):
        # Shared by its members, for its directory is read as a whole; closed with the last of them.
        archive = zipfile.ZipFile(path)
    infos = sorted(archive.infolist(), key=lambda info: info.filename)
    return [
        Member(f"{path}!{info.filename}", _unpacked(path, partial(_zipped, archive, info)))
        for info in _data(path, suffixes, {info: info.filename for info in infos})
    ]


def _zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    with _readable_archive(f"{archive.filename}!{info.filename}"):
        return archive.open(info)


@contextmanager
def _readable_archive(label: str) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:  # zipfile: encrypted, unknown method
        raise BuildError(label, f"cannot be unpacked ({error})", remedy="unpack it") from error


def _tar(path: Path, suffixes: tuple[str, ...]) -> list[Member]:
    """Return the members of a compressed tar, which is read through for each of them."""
    opener = _unpacked(path, partial(gzip.open, path, "rb"))
    with opener() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        names = {at: each.name for at, each in enumerate(archive) if each.isfile()}
    return [
        Member(f"{path}!{names[at]}", _unpacked(path, partial(_of_tar, opener, at)))
        for at in sorted(_data(path, suffixes, names), key=names.__getitem__)
    ]


@contextmanager
def _of_tar(opener: Opener, wanted: int) -> Iterator[IO[bytes]]:
    with opener() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        found = next(each for at, each in enumerate(archive) if at == wanted)
        yield cast("IO[bytes]", archive.extractfile(found))


_Key = TypeVar("_Key")


def _data(path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]) -> list[_Key]:
    """Return which members of an archive, given by name, are data with one of the suffixes."""
    found = [
        key
        for key, name in names.items()
        if name.lower().endswith(suffixes) and not _BESIDE.search(name)
    ]
    if not found:
        listed = " or ".join(suffixes)
        raise BuildError(path, f"no {listed} file in the archive", remedy="name another file")
    return found


_Kind = Callable[[Path, tuple[str, ...]], list[Member]]
_KINDS: dict[str, _Kind] = {
    ".tar.gz": _tar,
    ".tgz": _tar,
    ".gz": _gzip,
    ".zst": _zstandard,
    ".zip": _zip,
}


def _kind(path: Path) -> _Kind:
    name = path.name.lower()
    return next((kind for ending, kind in _KINDS.items() if name.endswith(ending)), _plain)
