"""The data files of a zip archive, read where they lie.

The directory of the archive is checked before anything is unpacked. Deflate is left to
``zipfile``; it unpacks bzip2 and LZMA in steps of any size; here their steps are limited.
"""

from __future__ import annotations

import copy
import io
import lzma
import stat
import struct
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from geolookup.errors import BuildError
from geolookup.filesystem import limits, open_regular
from geolookup.filesystem.unpacking import LZMA_MEMORY, Stepwise, unpack_stream
from geolookup_builder.sources.reading.data_files import (
    UNPACK,
    Budget,
    Extent,
    LimitedStream,
    Opener,
    data,
    link_error,
)

#: The record that ends an archive, and the two before it in a large one; a mark begins each.
# 22 bytes: the size of the directory is 4 bytes at 12; the last 2 are the length of a comment.
_END, _END_MARK = struct.Struct("<12xI6x"), b"PK\5\6"
_LOCATOR_BYTES, _LOCATOR_MARK = 20, b"PK\6\7"
# 56 bytes: the size of the directory is 8 bytes at 40 (APPNOTE.TXT of PKWARE, 4.3.14).
_END_64, _END_64_MARK = struct.Struct("<40xQ8x"), b"PK\6\6"
_COMMENT_BYTES = 1 << 16
_HAS_END_MARKER = 2  # of LZMA, in the flags of a member


def zip_files(path: Path, suffixes: tuple[str, ...], budget: Budget) -> list[tuple[str, Opener]]:
    """Return a label and an opener for each data file of an archive, ordered by name."""
    _check_directory(path)
    with _unpacking_errors(str(path)):
        # The openers share one ZipFile: its directory is read once.
        archive = zipfile.ZipFile(path)
    # It closes with the last, also if the garbage collector finalizes the file before it.
    weakref.finalize(archive, archive.fp.close)  # type: ignore[union-attr]
    infos = sorted(archive.infolist(), key=lambda info: info.filename)
    budget.check_members(len(infos))
    data_infos = data(path, suffixes, {info: info.filename for info in infos})
    _check(path, data_infos, budget)
    return [
        (f"{path}!{info.filename}", partial(_open, archive, info, budget, Extent()))
        for info in data_infos
    ]


def _check_directory(path: Path) -> None:
    """Raise BuildError for a directory that is too large: ``zipfile`` reads it whole."""
    most = _END_64.size + _LOCATOR_BYTES + _END.size + _COMMENT_BYTES
    with open_regular(path) as file:
        file.seek(max(0, file.seek(0, io.SEEK_END) - most))
        size = _directory_bytes(file.read())
    if size > limits.ALLOWED_DIRECTORY:
        problem = f"its directory has {size:,} bytes, over {limits.ALLOWED_DIRECTORY:,}"
        raise BuildError(path, problem, remedy=UNPACK)


def _directory_bytes(tail: bytes) -> int:
    """Return the size of the directory that the end of an archive states; 0 if there is no end."""
    at = len(tail) - _END.size  # without a comment; else the last mark begins the record
    if tail[at : at + 4] != _END_MARK or tail[-2:] != b"\0\0":
        at = tail.rfind(_END_MARK)
    if not 0 <= at <= len(tail) - _END.size:
        return 0
    before = at - _LOCATOR_BYTES - _END_64.size
    large = tail[at - _LOCATOR_BYTES : at].startswith(_LOCATOR_MARK)
    # ... | end record, 64 bits | its locator | end record
    if before >= 0 and large and tail[before:].startswith(_END_64_MARK):
        return int(_END_64.unpack_from(tail, before)[0])
    return int(_END.unpack_from(tail, at)[0])


def _check(path: Path, infos: list[zipfile.ZipInfo], budget: Budget) -> None:
    """Raise BuildError for links, members that share bytes, and sizes beyond the budget."""
    for info in infos:
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind and not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            raise link_error(f"{path}!{info.filename}")
    # Overlapping members: a small file of many large ones ("zip bomb").
    if sum(info.compress_size for info in infos) > path.stat().st_size:
        raise BuildError(path, "its members share the same bytes", remedy="fetch it again")
    budget.check(sum(info.file_size for info in infos))


@contextmanager
def _open(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget, extent: Extent
) -> Iterator[LimitedStream]:
    with _plain_stream(archive, info) as stream:
        yield budget.limited_stream(extent, stream)


def _plain_stream(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    with _unpacking_errors(f"{archive.filename}!{info.filename}"):
        if info.compress_type not in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            return archive.open(info)
        raw_info = copy.copy(info)  # its compressed bytes, as if they were the file
        raw_info.compress_type, raw_info.file_size = zipfile.ZIP_STORED, info.compress_size
        del (
            raw_info.CRC
        )  # without it zipfile checks nothing; the checksum of the file is checked below
        return _CheckedStream(archive.open(raw_info), info)  # type: ignore[return-value]


@contextmanager
def _unpacking_errors(label: str) -> Iterator[None]:
    """Turn what zipfile raises for encryption and unknown methods into a BuildError."""
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:
        raise BuildError(label, f"cannot be unpacked ({error})", remedy=UNPACK) from error


class _CheckedStream(io.RawIOBase):
    """A member compressed by bzip2 or LZMA: no more bytes than stated, and their checksum."""

    def __init__(self, packed_stream: IO[bytes], info: zipfile.ZipInfo) -> None:
        super().__init__()
        self._info = info
        self._remaining_bytes, self._crc = info.file_size, 0
        if info.compress_type == zipfile.ZIP_LZMA:
            self._stream = Stepwise(packed_stream, _lzma, _lzma_header(packed_stream, info))
        else:
            self._stream = unpack_stream(packed_stream, ".bz2")

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            return self.readall() or b""
        # No byte more than stated is asked for: the decompressor stops there.
        count = min(size, self._remaining_bytes)
        data = self._stream.read(count)
        self._remaining_bytes -= len(data)
        self._crc = zlib.crc32(data, self._crc)
        if len(data) < count or (not self._remaining_bytes and self._crc != self._info.CRC):
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {self._info.filename!r}")
        return data


def _lzma() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_ALONE, memlimit=LZMA_MEMORY)


def _lzma_header(packed_stream: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    """Return the header of an .lzma file for the header of a zip member."""
    head = packed_stream.read(9)
    if len(head) < 9 or head[2:4] != b"\5\0":
        raise zipfile.BadZipFile(f"Bad LZMA header for file {info.filename!r}")
    is_size_unknown = info.flag_bits & _HAS_END_MARKER
    # Zip: version (2), size of the properties (2), properties (5). .lzma: properties (5), size (8);
    # a size of all ones is "unknown, until the end marker".
    return head[4:] + (b"\xff" * 8 if is_size_unknown else info.file_size.to_bytes(8, "little"))
