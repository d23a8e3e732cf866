"""The data files of a compressed tar, unpacked once, in their order, into a temporary file.

A compressed tar has no directory: a single member could only be read from the beginning. The
temporary file has no name: nothing of it remains when the process ends.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import IO

from geolookup.errors import BuildError
from geolookup.filesystem import limits
from geolookup_builder.sources.reading.data_files import Budget, Opener, data, is_data, link_error

_CHUNK = 1 << 20
_EXTENDS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_NAMES = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)


class _Header(tarfile.TarInfo):
    """A header of a member; one that extends another header is limited, for it is read whole."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Header:
        header = super().frombuf(buf, encoding, errors)
        if header.type in (*_EXTENDS, *_NAMES) and header.size > limits.ALLOWED_HEADER:
            raise tarfile.ReadError(f"a header of {header.size:,} bytes")
        return header


def tar_files(
    path: Path, stream: IO[bytes], suffixes: tuple[str, ...], budget: Budget
) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each data file of the tar at ``path``, ordered by name.

    ``stream`` are its unpacked bytes, to be read once, already counted.
    """
    member_file = _MemberFile(path)
    with _invalid_headers():
        names = {
            member_file.add(content, member.size): member.name
            for member, content in _data_files(path, stream, suffixes, budget)
        }
    return [
        (f"{path}!{names[part]}", member_file.opener(part))
        for part in sorted(data(path, suffixes, names), key=names.__getitem__)
    ]


def _data_files(
    path: Path, stream: IO[bytes], suffixes: tuple[str, ...], budget: Budget
) -> Iterator[tuple[tarfile.TarInfo, IO[bytes]]]:
    """Yield the data files of a tar; the content of each must be read before the next."""
    # Streamed, tarfile keeps no position of its own; the list of members would grow with them.
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
        for at, member in enumerate(archive):
            budget.check_members(at + 1)
            archive.members = []  # type: ignore[attr-defined]
            if member.isdir() or not is_data(member.name, suffixes):
                continue
            # The holes of a sparse member are in no stream that counts them.
            if not member.isreg() or member.issparse():
                raise link_error(f"{path}!{member.name}")
            budget.check(member.size)
            content = archive.extractfile(member)
            assert content is not None  # noqa: S101 - it is a regular file
            yield member, content
    while stream.read(_CHUNK):  # to the end, where the checksum of gzip is compared
        pass


@contextmanager
def _invalid_headers() -> Iterator[None]:
    """Turn what tarfile raises for headers that are not numbers, or have no end, into its error."""
    try:
        yield
    except (ValueError, OverflowError, RecursionError) as error:
        raise tarfile.ReadError("a header that is not valid") from error


_Part = tuple[int, int]  # where a member begins, and how long it is


class _MemberFile:
    """A temporary file of members, one after the other; it is closed with the last opener."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
        self._lock = Lock()
        weakref.finalize(self, self._file.close)

    def add(self, content: IO[bytes], size: int) -> _Part:
        """Append a member; BuildError if there is no room for it."""
        folder = Path(tempfile.gettempdir())
        if size > (free := limits.free_space(folder)):
            raise self._no_room(f"{size:,} bytes in {folder}, but {free:,} are free")
        begin = self._file.seek(0, io.SEEK_END)
        try:
            while chunk := content.read(_CHUNK):
                self._file.write(chunk)
            self._file.flush()
        except OSError as error:
            raise self._no_room(f"{size:,} bytes in {folder} ({error.strerror})") from error
        return begin, size

    def _no_room(self, need: str) -> BuildError:
        remedy = "free space, or name another folder in TMPDIR"
        return BuildError(self._path, f"to unpack it needs {need}", remedy=remedy)

    def opener(self, part: _Part) -> Opener:
        """Return an opener of a member."""

        @contextmanager
        def open_part() -> Iterator[_PartStream]:
            yield _PartStream(self, part)

        return open_part

    def read(self, begin: int, size: int) -> bytes:
        """Return bytes of the file; threads may read different members at once."""
        with self._lock:
            self._file.seek(begin)
            return self._file.read(size)


class _PartStream(io.RawIOBase):
    """The bytes of one member."""

    def __init__(self, member_file: _MemberFile, part: _Part) -> None:
        super().__init__()
        self._member_file = member_file
        # Begin, and begin plus size.
        self._position, self._end = part[0], sum(part)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._position
        size = left if size < 0 else min(size, left)
        data = self._member_file.read(self._position, size)
        self._position += len(data)
        return data
