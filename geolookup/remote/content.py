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


def check(path: Path, digest: str, sha256: str, key: Key | None) -> None:
    """Raise BuildError if a downloaded file is not of its name's kind, or has no end.

    Also if its ``digest`` is not ``sha256`` (empty: any), or if it begins with an error message
    that contains ``key``, the key of its source.
    """
    with reading_errors(str(path)), path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, path.stat().st_size - END_BYTES))
        tail = file.read()
    name, kind = path.name.lower(), looks_like(head, tail)
    is_parquet, is_mmdb = name.endswith(PARQUET.endings), name.endswith(MMDB.endings)
    # "list.csv.gz" that is plain text is refused, "list.csv" that is gzip is not.
    is_other = (kind is None or not name.endswith(kind.endings)) and (packing(path) or is_parquet)
    is_cut = (is_parquet and not tail.endswith(b"PAR1")) or (is_mmdb and kind is not MMDB)
    has_key = key is not None and key.is_in(head.decode("latin-1"))
    for is_fault, problem, remedy in (
        (
            sha256 not in ("", digest),
            f"the SHA-256 of the file is {digest}, but {sha256} is expected",
            "correct sha256, or ask the vendor",
        ),
        (not head, "the downloaded file is empty", "ask the vendor"),
        (_PAGE.match(head), "the server answered with an HTML or XML page", _KEY_OR_PATH),
        (has_key, "the server answered with the key in the file", _KEY_OR_PATH),
        (is_other, f"the content is not a {path.suffix} file", _KEY_OR_PATH),
        (is_cut, "truncated or damaged (no end mark)", "fetch it again"),
    ):
        if is_fault:
            raise BuildError(path, problem, remedy=remedy)


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
        # Two limits: bytes of any download, and a ratio to the compressed size (gzip bombs).
        allowed = limits.allowed_bytes(path.stat().st_size)
        while chunk := stream.read(_CHUNK):
            if stream.tell() > largest:
                raise too_large(str(path), largest)
            if stream.tell() > allowed:
                raise BuildError(path, limits.excess(), remedy=_UNPACK)
            yield chunk
