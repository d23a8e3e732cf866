"""Checks of a downloaded file: not a web page, of the kind that its name says, complete."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from geolookup.errors import BuildError
from geolookup.filesystem.atomic import staged_file
from geolookup.filesystem.unpacking import packing
from geolookup_builder.reading_errors import reading_errors
from geolookup_builder.remote.key import Key

_GZIP = b"\x1f\x8b"
#: The first bytes of a file, by the ending of its name.
_BEGINNINGS = {
    ".zip": b"PK",
    ".gz": _GZIP,
    ".tgz": _GZIP,
    **dict.fromkeys((".bz2", ".tbz2"), b"BZh"),
    **dict.fromkeys((".xz", ".txz"), b"\xfd7zXZ\0"),
    ".zst": b"\x28\xb5\x2f\xfd",
    ".parquet": b"PAR1",
}
#: HTML or XML: no table begins with a tag.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.IGNORECASE)
_CHUNK = 1 << 20
_HEAD = 4096
_MMDB_END = 128 << 10  # the metadata of an MMDB begin within so many last bytes
_MMDB_MARK = b"\xab\xcd\xefMaxMind.com"


def check(path: Path, key: Key | None) -> None:
    """Raise BuildError where a downloaded file is not of its name's kind, or not complete.

    Also where it begins with an error message that contains ``key``, the key of its source.
    """
    with reading_errors(str(path)), path.open("rb") as file:
        head = file.read(_HEAD)
    name = path.name.lower()
    if not head:
        raise BuildError(path, "the downloaded file is empty", remedy="ask the vendor")
    if _PAGE.match(head):
        problem = "the server answered with an HTML or XML page"
        raise BuildError(path, problem, remedy="the key or the path may be wrong")
    if key and key.is_in(head.decode("latin-1")):
        problem = "the server answered with the key in the file"
        raise BuildError(path, problem, remedy="the key or the path may be wrong")
    for ending, beginning in _BEGINNINGS.items():
        if name.endswith(ending) and not head.startswith(beginning):
            remedy = "the key or the path may be wrong"
            raise BuildError(path, f"the content is no {ending} file", remedy=remedy)
    _check_end(path, name)


def _check_end(path: Path, name: str) -> None:
    """Check the end of a file; a compressed one is read through, up to its checksum."""
    if packing(path):
        from geolookup_builder.sources.reading.inputs import members  # loads Arrow

        for member in members(path.name, path.parent, ("",)):
            with member.open() as stream:
                while stream.read(_CHUNK):
                    pass
    elif name.endswith(".parquet"):
        _check_tail(path, 4, b"PAR1")
    elif name.endswith(".mmdb"):
        _check_tail(path, _MMDB_END, _MMDB_MARK)


def _check_tail(path: Path, size: int, mark: bytes) -> None:
    with reading_errors(str(path)), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - size))
        if mark not in file.read():
            raise BuildError(path, "truncated or damaged (no end mark)", remedy="fetch it again")


def decompress(path: Path, largest: int) -> None:
    """Decompress a file that was sent with Content-Encoding gzip; BuildError beyond a size.

    Some servers state it for files that are gzip themselves. Such a file stays as it is,
    unless it is gzip within gzip.
    """
    if path.name.lower().endswith((".gz", ".tgz")):
        with reading_errors(str(path)), gzip.open(path) as stream:
            if stream.read(len(_GZIP)) != _GZIP:
                return
    with staged_file(path) as fresh, fresh.open("wb") as output:
        output.writelines(_decompressed(path, largest))


def _decompressed(path: Path, largest: int) -> Iterator[bytes]:
    from geolookup_builder.sources.reading.budget import Budget, Passed  # as above

    with reading_errors(str(path)), gzip.open(path) as stream:
        budget = Budget(str(path)).of_file(path)
        limited = budget.counted(Passed(), cast("IO[bytes]", stream))
        size = 0
        while chunk := limited.read(_CHUNK):
            size += len(chunk)
            if size > largest:
                problem = f"the file is larger than {largest:,} bytes"
                raise BuildError(path, problem, remedy="download it, and name the local file")
            yield chunk
