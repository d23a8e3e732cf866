"""The kind of a file by its first bytes, for errors about a file with a misleading name.

The signatures are defined by RFC 1952 (gzip), RFC 8878 (Zstandard), PKWARE's APPNOTE (zip), POSIX
(tar), Unicode (byte order marks) and of the formats' own specifications.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: So many bytes are needed at the beginning, and at the end, to recognise all kinds.
START_BYTES = 512
END_BYTES = 128 << 10
_MMDB_MARK = b"\xab\xcd\xefMaxMind.com"  # begins the metadata, at the end of the file
#: Bytes that no text contains.
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|!--|html|head|body|\?xml)\b", re.IGNORECASE)


class Kind(NamedTuple):
    """A kind of file: its name, the remedy for a user, and the endings of its name."""

    name: str
    remedy: str
    endings: tuple[str, ...] = ()


def _compressed_kind(name: str, ending: str, *others: str) -> Kind:
    return Kind(name, f"give its name the ending {ending}, or unpack it", (ending, *others))


GZIP = _compressed_kind("gzip", ".gz", ".tgz")
BZIP2 = _compressed_kind("bzip2", ".bz2", ".tbz2")
XZ = _compressed_kind("xz", ".xz", ".txz")
ZSTANDARD = _compressed_kind("Zstandard", ".zst")
ZIP = Kind("a zip archive", "give its name the ending .zip, or unpack it", (".zip",))
PARQUET = Kind("Parquet", "name its format: parquet", (".parquet",))
MMDB = Kind("an MMDB", "compile it by the format mmdb", (".mmdb",))
PAGE = Kind("an HTML or XML page", "fetch it again: the server may have answered with a page")
_UNPACK, _AS_CSV, _AS_PARQUET = "unpack it", "export its table as CSV", "convert it to Parquet"
_UTF16, _UTF32 = (Kind(name, "convert it to UTF-8") for name in ("UTF-16", "UTF-32"))
#: Kind, where its mark begins, and the mark. UTF-32 comes before UTF-16: one mark begins the other.
_MARKS = (
    (GZIP, 0, b"\x1f\x8b"),
    (BZIP2, 4, b"\x31\x41\x59\x26\x53\x59"),
    (XZ, 0, b"\xfd7zXZ\x00"),
    (ZSTANDARD, 0, b"\x28\xb5\x2f\xfd"),
    (ZIP, 0, b"PK\x03\x04"),
    (ZIP, 0, b"PK\x05\x06"),
    (Kind("7-Zip", _UNPACK, (".7z",)), 0, b"7z\xbc\xaf\x27\x1c"),
    (Kind("RAR", _UNPACK, (".rar",)), 0, b"Rar!\x1a\x07"),
    (Kind("a tar archive", "compress it as .tar.gz, or unpack it", (".tar",)), 257, b"ustar"),
    (Kind("Arrow IPC", _AS_PARQUET, (".arrow", ".ipc", ".feather")), 0, b"ARROW1\x00\x00"),
    (Kind("SQLite", _AS_CSV, (".sqlite", ".db")), 0, b"SQLite format 3\x00"),
    (Kind("DuckDB", _AS_CSV, (".duckdb",)), 8, b"DUCK"),
    (Kind("an Excel or Word file", "export it as CSV", (".xls",)), 0, b"\xd0\xcf\x11\xe0\xa1\xb1"),
    (Kind("PDF", "fetch the data themselves", (".pdf",)), 0, b"%PDF-"),
    (_UTF32, 0, b"\xff\xfe\x00\x00"),
    (_UTF32, 0, b"\x00\x00\xfe\xff"),
    (_UTF16, 0, b"\xff\xfe"),
    (_UTF16, 0, b"\xfe\xff"),
)
#: What a text may begin with: only bytes that no text has make these marks. UTF-16 and UTF-32
#: without a byte order mark have zeros between letters.
_WORDS = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (PARQUET, rb"PAR1"),
        (Kind("ORC", _AS_PARQUET, (".orc",)), rb"ORC"),
        (Kind("Avro", _AS_PARQUET, (".avro",)), rb"Obj\x01"),
        (_UTF32, rb"(?:[^\0]\0{3}){4}|(?:\0{3}[^\0]){4}"),
        (_UTF16, rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}"),
    )
)


def looks_like(start: bytes, end: bytes = b"") -> Kind | None:
    """Return the kind of a file that is not UTF-8 text, by its first and last bytes; else None."""
    for kind, at, mark in _MARKS:
        if start[at : at + len(mark)] == mark:
            return kind
    if _PAGE.match(start):
        return PAGE
    if not is_binary(start):
        return None
    if _MMDB_MARK in end:
        return MMDB
    return next((kind for kind, pattern in _WORDS if pattern.match(start)), None)


def is_binary(start: bytes) -> bool:
    """Return whether a file begins with bytes that no text contains."""
    return _CONTROLS.search(start) is not None
