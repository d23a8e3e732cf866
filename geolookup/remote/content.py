"""Checks of a downloaded file: not a web page, of the kind that its name says, with its end."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

from geolookup.errors import BuildError
from geolookup.filesystem import limits
from geolookup.filesystem.atomic import staged_file
from geolookup.filesystem.signatures import END_BYTES, GZIP, MMDB, PARQUET, looks_like
from geolookup.filesystem.unpacking import packing, reading_errors
from geolookup.remote.key import Key

#: HTML or XML: no table begins with a tag.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.IGNORECASE)
_CHUNK = 1 << 20
_HEAD = 4096
_UNPACK = "if you trust the file, unpack it before the build"
_KEY_OR_PATH = "the key or the path may be wrong"


def too_large(path: str, largest: int) -> BuildError:
    """Return the error of a file beyond the limit of a download."""
    problem = f"the file is larger than {largest:,} bytes"
    return BuildError(path, problem, remedy="download it, and name the local file")


def check(path: Path, key: Key | None) -> None:
    """Raise BuildError if a downloaded file is not of its name's kind, or has no end.

    Also if it begins with an error message that contains ``key``, the key of its source.
    """
    head, tail = _ends(path)
    if not head:
        raise BuildError(path, "the downloaded file is empty", remedy="ask the vendor")
    if _PAGE.match(head):
        problem = "the server answered with an HTML or XML page"
        raise BuildError(path, problem, remedy=_KEY_OR_PATH)
    if key and key.is_in(head.decode("latin-1")):
        problem = "the server answered with the key in the file"
        raise BuildError(path, problem, remedy=_KEY_OR_PATH)
    # "list.csv.gz" that is plain text is refused, "list.csv" that is gzip is not.
    name, kind = path.name.lower(), looks_like(head, tail)
    is_other = kind is None or not name.endswith(kind.endings)
    if is_other and (packing(path) or name.endswith(PARQUET.endings)):
        raise BuildError(path, f"the content is not a {path.suffix} file", remedy=_KEY_OR_PATH)
    is_cut = name.endswith(PARQUET.endings) and not tail.endswith(b"PAR1")
    if is_cut or (name.endswith(MMDB.endings) and kind is not MMDB):
        raise BuildError(path, "truncated or damaged (no end mark)", remedy="fetch it again")


def _ends(path: Path) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a file."""
    with reading_errors(str(path)), path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, path.stat().st_size - END_BYTES))
        return head, file.read()


def decompress(path: Path, largest: int) -> None:
    """Decompress a file that was sent with Content-Encoding gzip; BuildError beyond a size.

    Some servers state it for files that are gzip themselves. Such a file stays unchanged, unless it
    is gzip within gzip.
    """
    if path.name.lower().endswith(GZIP.endings):
        # feed.csv.gz sent with Content-Encoding gzip may be
        #   gzip(csv)         the header describes the file itself: kept
        #   gzip(gzip(csv))   the header is right: one layer is removed
        with reading_errors(str(path)), gzip.open(path) as stream:
            if looks_like(stream.read(_HEAD)) is not GZIP:
                return
    with staged_file(path) as fresh, fresh.open("wb") as output:
        output.writelines(_decompressed_chunks(path, largest))


def _decompressed_chunks(path: Path, largest: int) -> Iterator[bytes]:
    with reading_errors(str(path)), gzip.open(path) as stream:
        allowed = limits.allowed_bytes(path.stat().st_size)
        while chunk := stream.read(_CHUNK):
            # Two limits: bytes of any download, and a ratio to the compressed size (gzip bombs).
            if stream.tell() > largest:
                raise too_large(str(path), largest)
            if stream.tell() > allowed:
                raise BuildError(path, limits.excess(), remedy=_UNPACK)
            yield chunk
