"""The data files of zip and compressed tar archives, read by the standard library within limits.

A zip archive is read where it lies. Only stored and deflated members are: of the other methods
``zipfile`` unpacks more than it is asked for. A compressed tar has no directory. It is unpacked
once, into a temporary file without a name: nothing remains of it when the process ends.
"""

from __future__ import annotations

import io
import stat
import tarfile
import tempfile
import weakref
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO

from geolookup.errors import BuildError
from geolookup.filesystem import limits, open_regular
from geolookup_builder.sources.reading.data_files import Budget, Opener, data, is_data

_CHUNK = 1 << 20
#: Flags of a zip member: encrypted, a patch, strongly encrypted (APPNOTE.TXT of PKWARE, 4.4.4).
_UNREADABLE = 0x01 | 0x20 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Headers of a tar that are read whole: they extend, or name, the member after them.
_LONG_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


def _refused(label: str, problem: str) -> BuildError:
    return BuildError(label, problem, remedy="unpack the archive before the build")


class _ZipFile(io.BufferedReader):
    """A file of which ``zipfile`` reads the directory in one call, up to a limit."""

    most: float = 0

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self.most:
            raise _refused(self.name, f"its directory has {size:,} bytes, over {self.most:,}")
        return super().read(size)


def zip_files(path: Path, suffixes: tuple[str, ...], budget: Budget) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each data file of an archive, ordered by name."""
    archive = _open_zip(path)
    infos = archive.infolist()
    budget.check_members(len(infos))
    members = data(path, suffixes, {info: info.filename for info in infos})
    for info in infos:
        if info not in members:
            budget.leave(f"{path}!{info.filename}")
    for info in members:
        _check(f"{path}!{info.filename}", info)
    # Overlapping members: a small file of many large ones ("zip bomb").
    if sum(info.compress_size for info in members) > path.stat().st_size:
        raise BuildError(path, "its members share the same bytes", remedy="fetch it again")
    budget.check(sum(info.file_size for info in members))
    return [
        (f"{path}!{info.filename}", budget.limited(partial(archive.open, info))) for info in members
    ]


def _open_zip(path: Path) -> zipfile.ZipFile:
    """Open an archive; all members share it, and it closes with the last opener."""
    file = _ZipFile(open_regular(path).detach())  # type: ignore[attr-defined]
    file.most = limits.ALLOWED_DIRECTORY
    try:
        archive = zipfile.ZipFile(file)
    except BaseException as error:
        file.close()
        if isinstance(error, NotImplementedError):  # a later version of the format
            raise _refused(str(path), f"cannot be unpacked ({error})") from error
        raise
    file.most = float("inf")
    weakref.finalize(archive, file.close)
    return archive


def _check(label: str, info: zipfile.ZipInfo) -> None:
    """Raise BuildError for a member that is not a plain file."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind and not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise _refused(label, "not a regular file")
    if info.flag_bits & _UNREADABLE:
        raise _refused(label, "is encrypted")
    if info.compress_type not in _METHODS:
        raise _refused(label, f"is compressed by method {info.compress_type}, not by deflate")


class _Header(tarfile.TarInfo):
    """A header of a member, of limited size."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _LONG_HEADERS and header.size > limits.ALLOWED_HEADER:
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header


def tar_files(
    path: Path, stream: IO[bytes], suffixes: tuple[str, ...], budget: Budget
) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each data file of the tar at ``path``, ordered by name.

    ``stream`` are its unpacked bytes, already counted; threads may read the members at once.
    """
    unpacked = _Unpacked(path, stream)
    members = dict(_tar_members(path, unpacked.file, suffixes, budget))
    return [
        (f"{path}!{members[part]}", partial(_PartStream, unpacked, *part))
        for part in data(path, suffixes, members)
    ]


class _Unpacked:
    """A stream, copied to its end into a temporary file; BuildError if there is no room for it."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.lock = Lock()
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the last opener
        weakref.finalize(self, self.file.close)
        folder = Path(tempfile.gettempdir())
        while chunk := stream.read(_CHUNK):
            if len(chunk) > (free := limits.free_space(folder)):
                problem = f"there is no room to unpack it in {folder}: {free:,} bytes are free"
                remedy = "free space, or name another folder in TMPDIR"
                raise BuildError(path, problem, remedy=remedy)
            self.file.write(chunk)
        self.file.seek(0)


def _tar_members(
    path: Path, file: IO[bytes], suffixes: tuple[str, ...], budget: Budget
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield where each data file of a tar begins, its size, and its name."""
    try:
        with tarfile.open(fileobj=file, mode="r:", tarinfo=_Header) as archive:
            for number, member in enumerate(archive, 1):
                budget.check_members(number)
                if member.isdir():
                    continue
                if not is_data(member.name, suffixes):
                    budget.leave(f"{path}!{member.name}")
                    continue
                # The bytes of a sparse member are not those of its file.
                if not member.isreg() or member.issparse():
                    raise _refused(f"{path}!{member.name}", "not a regular file")
                yield (member.offset_data, member.size), member.name
    except (ValueError, OverflowError, RecursionError) as error:
        raise tarfile.ReadError("a header that is not valid") from error


class _PartStream(io.RawIOBase):
    """The bytes of one member."""

    def __init__(self, unpacked: _Unpacked, begin: int, size: int) -> None:
        super().__init__()
        self._unpacked, self._position, self._end = unpacked, begin, begin + size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._position
        with self._unpacked.lock:
            self._unpacked.file.seek(self._position)
            data = self._unpacked.file.read(left if size < 0 else min(size, left))
        self._position += len(data)
        return data
