"""The data files of zip and compressed tar archives, read by the standard library within limits.

A zip archive is read where it lies. Only stored and deflated members are: of the other methods
``zipfile`` unpacks more than it is asked for. A compressed tar has no directory. It is unpacked
once, into a temporary file without a name: nothing remains of it when the process ends.
"""

from __future__ import annotations

import io
import mmap
import re
import stat
import tarfile
import tempfile
import weakref
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

import pyarrow as pa

from geolookup.errors import BuildError, line_text, listed
from geolookup.filesystem import limits, open_regular

Opener = Callable[[], AbstractContextManager[Any]]
#: Files of an archive that hold no data: resource forks of macOS, licences, instructions.
_NO_DATA = re.compile(
    r"(?:^|/)(?:__MACOSX/|\._|(?:readme|licen[cs]e|copyright)[^/]*\.(?:txt|md)$)", re.IGNORECASE
)
_Key = TypeVar("_Key")
_LISTED = 3  # other members, in messages
_TRUSTED = "if you trust the file, unpack it before the build"
_CHUNK = 1 << 20
#: Flags of a zip member: encrypted, a patch, strongly encrypted (APPNOTE.TXT of PKWARE, 4.4.4).
_UNREADABLE = 0x01 | 0x20 | 0x40
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Headers of a tar that are read whole: they extend, or name, the member after them.
_LONG_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


def holds_no_data(name: str) -> bool:
    """Return whether a file is a licence, an instruction or a resource fork, by its name."""
    return _NO_DATA.search(name) is not None


def no_file(suffixes: tuple[str, ...], where: str) -> str:
    """Return the problem that no file in an archive or a folder has one of the suffixes."""
    endings = " or ".join(filter(None, suffixes))  # an empty suffix matches any file
    return f"no {endings} file in the {where}" if endings else f"no file in the {where}"


class Budget:
    """The bytes that the compressed files of a source may unpack to; BuildError beyond them."""

    def __init__(self, label: str) -> None:
        self._label = label
        self.others = list[str]()  # labels of files of archives that are not read
        self._packed_bytes = self._unpacked_bytes = 0

    def add(self, path: Path) -> None:
        """Count a compressed file: the limit grows with it; see ``filesystem.limits``."""
        self._packed_bytes += path.stat().st_size

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
            more = max(0, position - furthest)
            self.check(more)
            self._unpacked_bytes += more
            furthest += more

        @contextmanager
        def open_stream() -> Iterator[_Limited]:
            with opener() as stream:
                yield _Limited(stream, reach)

        return open_stream

    def select(
        self, path: Path, suffixes: tuple[str, ...], names: Mapping[_Key, str]
    ) -> list[_Key]:
        """Return the keys of the names that are data files of an archive, by name.

        The labels of other files are noted, unless they hold no data by their names. Raises
        BuildError if there is no data file.
        """
        keys = []
        for key, name in names.items():
            if holds_no_data(name):
                continue
            if name.lower().endswith(suffixes):
                keys.append(key)
            elif not name.endswith("/"):
                self.others.append(f"{path}!{name}")
        if not keys:
            files = listed([*map(line_text, names.values())], _LISTED)
            others = f", but {files}" if names else ""
            problem = no_file(suffixes, "archive") + others
            raise BuildError(path, problem, remedy="name another file")
        return sorted(keys, key=names.__getitem__)


class _Limited(io.RawIOBase):
    """A stream; ``reach`` is called with each position that is read to."""

    def __init__(self, stream: IO[bytes], reach: Callable[[int], None]) -> None:
        super().__init__()
        self._stream, self._reach, self._position = stream, reach, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes; fewer only at the end."""
        if size < 0:
            return self.readall() or b""
        data = self._stream.read(size)
        self._position += len(data)
        self._reach(self._position)
        return data


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
    members = budget.select(path, suffixes, {info: info.filename for info in infos})
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
    with tempfile.TemporaryFile() as file:
        _copy(path, stream, file)
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            with tarfile.open(fileobj=data, mode="r:", tarinfo=_Header) as archive:
                for number, _ in enumerate(archive, 1):
                    budget.check_members(number)
                infos = archive.getmembers()
        except (ValueError, OverflowError, RecursionError) as error:
            raise tarfile.ReadError("a header that is not valid") from error
    members = {info: info.name for info in infos if not info.isdir()}
    files = list[tuple[str, Opener]]()
    for info in budget.select(path, suffixes, members):
        label = f"{path}!{info.name}"
        # The bytes of a sparse member are not those of its file.
        if not info.isreg() or info.issparse():
            raise _refused(label, "not a regular file")
        # Slices of the mapping, which ends with the last opener.
        part = memoryview(data)[info.offset_data : info.offset_data + info.size]
        files.append((label, partial(pa.BufferReader, part)))
    return files


def _copy(path: Path, stream: IO[bytes], file: IO[bytes]) -> None:
    """Copy the stream of an archive; BuildError if there is no room for it."""
    folder = Path(tempfile.gettempdir())
    while chunk := stream.read(_CHUNK):
        if len(chunk) > (free := limits.free_space(folder)):
            problem = f"there is no room to unpack it in {folder}: {free:,} bytes are free"
            remedy = "free space, or name another folder in TMPDIR"
            raise BuildError(path, problem, remedy=remedy)
        file.write(chunk)
    file.flush()
