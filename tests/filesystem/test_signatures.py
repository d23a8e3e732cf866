"""Files by their first bytes: what tools write is recognised, and no text is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from tests.internals.filesystem import START_BYTES, looks_like

TEXT = "network,isp\n8.8.8.0/24,x\n"
TABLE = pa.table({"network": ["8.8.8.0/24"], "isp": ["x"]})


def written(write: object) -> bytes:
    stream = io.BytesIO()
    write(stream)  # type: ignore[operator]
    return stream.getvalue()


def _zip(stream: io.BytesIO) -> None:
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", TEXT)


def _tar(stream: io.BytesIO) -> None:
    with tarfile.open(fileobj=stream, mode="w") as archive:
        info = tarfile.TarInfo("a.csv")
        info.size = len(TEXT)
        archive.addfile(info, io.BytesIO(TEXT.encode()))


def _arrow(stream: io.BytesIO) -> None:
    with pa.ipc.new_file(stream, TABLE.schema) as writer:
        writer.write(TABLE)


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
    "tar": (written(_tar), "a tar archive"),
    "Parquet": (written(lambda stream: pa.parquet.write_table(TABLE, stream)), "Parquet"),
    "Arrow": (written(_arrow), "Arrow IPC"),
    "SQLite": (_sqlite(), "SQLite"),
    "UTF-16": (TEXT.encode("utf-16"), "UTF-16"),
    "UTF-16 LE": (TEXT.encode("utf-16-le"), "UTF-16"),
    "UTF-16 BE": (TEXT.encode("utf-16-be"), "UTF-16"),
    "UTF-32": (TEXT.encode("utf-32"), "UTF-32"),
    "UTF-32 BE": (TEXT.encode("utf-32-be"), "UTF-32"),
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
