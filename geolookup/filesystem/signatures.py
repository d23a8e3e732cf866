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
#: Begins the metadata of an MMDB, at its end.
_MMDB_MARK = b"\xab\xcd\xefMaxMind.com"
#: Bytes that no text contains.
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")


class Kind(NamedTuple):
    """A kind of file: its name, the remedy for a user, and the endings of its name."""

    name: str
    remedy: str
    endings: tuple[str, ...] = ()


GZIP = Kind("gzip", "give its name the ending .gz, or unpack it", (".gz", ".tgz"))
BZIP2 = Kind("bzip2", "give its name the ending .bz2, or unpack it", (".bz2", ".tbz2"))
XZ = Kind("xz", "give its name the ending .xz, or unpack it", (".xz", ".txz"))
ZSTANDARD = Kind("Zstandard", "give its name the ending .zst, or unpack it", (".zst",))
ZIP = Kind("a zip archive", "give its name the ending .zip, or unpack it", (".zip",))
TAR = Kind("a tar archive", "compress it as .tar.gz, or unpack it", (".tar",))
ARROW = Kind("Arrow IPC", "convert it to Parquet", (".arrow", ".ipc", ".feather"))
SQLITE = Kind("SQLite", "export its table as CSV", (".sqlite", ".db"))
PARQUET = Kind("Parquet", "name its format: parquet", (".parquet",))
MMDB = Kind("an MMDB", "compile it by the format mmdb", (".mmdb",))
PAGE = Kind("an HTML or XML page", "fetch it again: the server may have answered with a page")
_UTF16, _UTF32 = (Kind(name, "convert it to UTF-8") for name in ("UTF-16", "UTF-32"))
#: What files begin with. UTF-32 comes before UTF-16: one mark begins the other.
_MARKS = {
    GZIP: rb"\x1f\x8b",
    BZIP2: rb".{4}1AY&SY",
    XZ: rb"\xfd7zXZ\0",
    ZSTANDARD: rb"\x28\xb5\x2f\xfd",
    ZIP: rb"PK(?:\x03\x04|\x05\x06)",
    Kind("7-Zip", "unpack it", (".7z",)): rb"7z\xbc\xaf\x27\x1c",
    Kind("RAR", "unpack it", (".rar",)): rb"Rar!\x1a\x07",
    TAR: rb".{257}ustar",
    ARROW: rb"ARROW1\0\0",
    SQLITE: rb"SQLite format 3\0",
    Kind("PDF", "fetch the data themselves", (".pdf",)): rb"%PDF-",
    _UTF32: rb"\xff\xfe\0\0|\0\0\xfe\xff",
    _UTF16: rb"\xff\xfe|\xfe\xff",
    PAGE: rb"(?:\xef\xbb\xbf)?\s*<(?i:!doctype|!--|html|head|body|\?xml)\b",
}
#: What binary files begin with, as some texts do. UTF-16 and UTF-32 without a byte order mark have
#: zeros between letters.
_BINARY_MARKS = {
    PARQUET: rb"PAR1",
    _UTF32: rb"(?:[^\0]\0{3}){4}|(?:\0{3}[^\0]){4}",
    _UTF16: rb"(?:[^\0]\0){4}|(?:\0[^\0]){4}",
}


def looks_like(start: bytes, end: bytes = b"") -> Kind | None:
    """Return the kind of a file that is not UTF-8 text, by its first and last bytes; else None."""
    kind = _first(_MARKS, start)
    if kind is not None or not is_binary(start):
        return kind
    return MMDB if _MMDB_MARK in end else _first(_BINARY_MARKS, start)


def _first(marks: dict[Kind, bytes], start: bytes) -> Kind | None:
    found = (kind for kind, mark in marks.items() if re.match(mark, start, re.DOTALL))
    return next(found, None)


def is_binary(start: bytes) -> bool:
    """Return whether a file begins with bytes that no text contains."""
    return _CONTROLS.search(start) is not None
