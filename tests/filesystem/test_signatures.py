"""Files by their first bytes: what tools write is recognised, and no text is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet
from pyarrow.feather import write_feather

from tests.internals.filesystem import START_BYTES, looks_like

TEXT = "network,isp\n8.8.8.0/24,x\n"
TABLE = pa.table({"network": ["8.8.8.0/24"], "isp": ["x"]})


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def _zip(stream: io.BytesIO) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", TEXT)


def _sqlite() -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE a (network TEXT)")
        return database.serialize()


#: The content, and its name.
FILES: dict[str, tuple[bytes, str]] = {
    "gzip": (gzip.compress(TEXT.encode()), "gzip"),
    "bzip2": (bz2.compress(TEXT.encode()), "bzip2"),
    "xz": (lzma.compress(TEXT.encode()), "xz"),
    "Zstandard": (bytes(pa.Codec("zstd").compress(TEXT.encode(), asbytes=True)), "Zstandard"),
    "zip": (written(_zip), "a zip archive"),
    "tar": (tarfile.TarInfo("a.csv").tobuf(), "a tar archive"),
    "Parquet": (written(lambda stream: pa.parquet.write_table(TABLE, stream)), "Parquet"),
    "Arrow": (written(lambda stream: write_feather(TABLE, stream, "lz4")), "Arrow IPC"),
    "SQLite": (_sqlite(), "SQLite"),
    **{
        f"UTF-{code}": (TEXT.encode(f"utf-{code}"), f"UTF-{code[:2]}")
        for code in ("16", "16-le", "16-be", "32", "32-be")
    },
    "PDF": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
    "HTML": (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<html>", "an HTML or XML page"),
    "XML": (b'<?xml version="1.0"?><Error/>', "an HTML or XML page"),
    "MMDB": (bytes(64) + b"\xab\xcd\xefMaxMind.com\xe1", "an MMDB"),
}


def test_what_tools_write() -> None:
    for name, (content, called) in FILES.items():
        result = looks_like(content[:START_BYTES], content)
        assert result is not None, name
        assert result.name == called
        assert result.remedy
    for text in (
        "", "PAR1,isp\n", "ORC,x\n", "PK,network\n", "<b>,x\n", "BZh9,x\n", "7z,x\n", "Obj\n",
        "network,isp\n8.8.8.0/24,\0\n", "\0" * 600, "%PD\n", "\t\x0c\r\n", "a\0b",
    ):  # fmt: skip
        assert looks_like(text.encode()[:START_BYTES], text.encode()) is None, text
