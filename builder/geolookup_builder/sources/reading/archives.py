"""Compressed files and archives, opened as streams of plain bytes.

``openers`` lists what a path holds: one entry for a plain or compressed file,
one for each data file of an archive. Nothing is decompressed to disk. A stream
that exceeds the limits below ends the build.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import pyarrow as pa

from geolookup.errors import BuildError

Opener = Callable[[], AbstractContextManager[Any]]

#: Bytes that any compressed file may decompress to. Real range files compress to a tenth,
#: lists of one long pattern to a fiftieth; a file beyond both limits is an attack.
ALLOWED_BYTES = 1 << 30
#: How many times its compressed size a larger file may decompress to.
ALLOWED_RATIO = 200
#: Files of an archive that hold no data: resource forks of macOS, licences, instructions.
_NO_DATA = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)
_Key = TypeVar("_Key")


class LimitedStream(io.RawIOBase):
    """The decompressed bytes of the file at ``path``; BuildError beyond the limits."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        super().__init__()
        self._stream, self._path = stream, path
        self._left = max(ALLOWED_BYTES, ALLOWED_RATIO * path.stat().st_size)

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""
        if size < 0:
            return self.readall() or b""
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            problem = f"unpacks to over {ALLOWED_BYTES:,} bytes and {ALLOWED_RATIO} times its size"
            remedy = "if you trust the file, unpack it before the build"
            raise BuildError(self._path, problem, remedy=remedy)
        return data


def openers(path: Path, suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each file at ``path``.

    Of an archive, the files with one of ``suffixes`` are returned, ordered by name.
    """
    name = path.name.lower()
    kind = next((kind for ending, kind in _KINDS.items() if name.endswith(ending)), _plain)
    return kind(path, suffixes)


def _plain(path: Path, _suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    return [(str(path), lambda: path.open("rb"))]


def _gzip(path: Path, _suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    return [(str(path), _limited(path, partial(gzip.open, path, "rb")))]


def _zstandard(path: Path, _suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    opener = partial(pa.input_stream, str(path), compression="zstd")
    return [(str(path), _limited(path, opener))]


def _limited(path: Path, opener: Opener) -> Opener:
    """Return an opener that limits the decompressed size of the file at ``path``."""

    @contextmanager
    def opened() -> Iterator[LimitedStream]:
        with opener() as stream:
            yield LimitedStream(stream, path)

    return opened


def _zip(path: Path, suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    with _supported(str(path)):
        # The openers share one ZipFile: its directory is read once. It closes with the last.
        archive = zipfile.ZipFile(path)
    infos = sorted(archive.infolist(), key=lambda info: info.filename)
    return [
        (f"{path}!{info.filename}", _limited(path, partial(_in_zip, archive, info)))
        for info in _data(path, suffixes, {info: info.filename for info in infos})
    ]


def _in_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    with _supported(f"{archive.filename}!{info.filename}"):
        return archive.open(info)


@contextmanager
def _supported(label: str) -> Iterator[None]:
    """Turn what zipfile raises for encryption and unknown methods into a BuildError."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        remedy = "unpack the archive before the build"
        raise BuildError(label, f"cannot be unpacked ({error})", remedy=remedy) from error


def _tar(path: Path, suffixes: tuple[str, ...]) -> list[tuple[str, Opener]]:
    """Return the files of a compressed tar; each opener reads the tar from its start."""
    opener = _limited(path, partial(gzip.open, path, "rb"))
    with opener() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        names = {at: each.name for at, each in enumerate(archive) if each.isfile()}
    return [
        (f"{path}!{names[at]}", _limited(path, partial(_in_tar, opener, at)))
        for at in sorted(_data(path, suffixes, names), key=names.__getitem__)
    ]


@contextmanager
def _in_tar(opener: Opener, wanted: int) -> Iterator[IO[bytes]]:
    with opener() as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        found = next(each for at, each in enumerate(archive) if at == wanted)
        yield cast("IO[bytes]", archive.extractfile(found))


def holds_data(path: Path, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file of a folder is data: one with a suffix, compressed or in an archive."""
    kind = next((ending for ending in _KINDS if path.name.lower().endswith(ending)), "")
    name = path.name.lower().removesuffix(kind)
    packed = kind and _KINDS[kind] in (_tar, _zip)
    return not _NO_DATA.search(path.as_posix()) and (bool(packed) or name.endswith(suffixes))


def _data(path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]) -> list[_Key]:
    """Return the keys of the names that are data files with one of the suffixes."""
    found = [
        key
        for key, name in names.items()
        if name.lower().endswith(suffixes) and not _NO_DATA.search(name)
    ]
    if not found:
        listed = " or ".join(suffixes)
        raise BuildError(path, f"no {listed} file in the archive", remedy="name another file")
    return found


_KINDS: dict[str, Callable[[Path, tuple[str, ...]], list[tuple[str, Opener]]]] = {
    ".tar.gz": _tar,
    ".tgz": _tar,
    ".gz": _gzip,
    ".zst": _zstandard,
    ".zip": _zip,
}
