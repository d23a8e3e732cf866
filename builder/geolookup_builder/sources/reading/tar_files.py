"""The data files of a compressed tar, which is unpacked once into a temporary file.

A compressed tar has no directory: a single member could only be read from the beginning. The
temporary file has no name: nothing of it remains when the process ends.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
import weakref
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO

from geolookup.errors import BuildError
from geolookup.filesystem import limits
from geolookup_builder.sources.reading.data_files import (
    Budget,
    Opener,
    cannot_unpack,
    data,
    is_data,
)

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

    ``stream`` are its unpacked bytes, already counted; threads may read the members at once.
    """
    unpacked = _Unpacked(path, stream)
    members = dict(_members(path, unpacked.file, suffixes, budget))
    return [
        (f"{path}!{members[part]}", partial(_PartStream, unpacked, *part))
        for part in data(path, suffixes, members)
    ]


class _Unpacked:
    """A stream, copied to its end into a temporary file; BuildError if there is no room for it."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._lock = Lock()
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

    def read(self, begin: int, size: int) -> bytes:
        """Return bytes of the file; threads may read different members at once."""
        with self._lock:
            self.file.seek(begin)
            return self.file.read(size)


def _members(
    path: Path, file: IO[bytes], suffixes: tuple[str, ...], budget: Budget
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield where each data file of a tar begins, its size, and its name."""
    try:
        with tarfile.open(fileobj=file, mode="r:", tarinfo=_Header) as archive:
            for number, member in enumerate(archive, 1):
                budget.check_members(number)
                if member.isdir() or not is_data(member.name, suffixes):
                    continue
                # The bytes of a sparse member are not those of its file.
                if not member.isreg() or member.issparse():
                    raise cannot_unpack(f"{path}!{member.name}", "not a regular file")
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
        data = self._unpacked.read(self._position, left if size < 0 else min(size, left))
        self._position += len(data)
        return data
