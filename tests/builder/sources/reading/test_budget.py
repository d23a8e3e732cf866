"""What the compressed files of a source may unpack to, together, and how often they are read.

Strategy: small limits and small bombs, each just above a limit; the same archive just below it is
read. Nothing is unpacked to find out.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import BuildError
from tests.builder.sources.reading.test_inputs import HEADER, ROWS, gzipped, tarred, zipped
from tests.internals.builder import members
from tests.internals.filesystem import limits, unpack_stream

TEXT = HEADER + "8.8.8.0/24,one\n" * 4000  # 60 kB, compressed to a few hundred bytes
END = bytes(2 * tarfile.BLOCKSIZE)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 200_000)
    monkeypatch.setattr(limits, "ALLOWED_RATIO", 5)


def content(folder: Path, pattern: str) -> list[bytes]:
    actual = []
    for member in members(pattern, folder, (".csv",)):
        with member.open() as stream:
            actual.append(stream.read())
    return actual


def refused(folder: Path, pattern: str) -> BuildError:
    with pytest.raises(BuildError) as caught:
        content(folder, pattern)
    return caught.value


PACKS: dict[str, Callable[[dict[str, str]], bytes]] = {"a.zip": zipped, "a.tar.gz": tarred}


@pytest.mark.usefixtures("small")
def test_members_and_files_share_one_budget(tmp_path: Path) -> None:
    for name, pack in PACKS.items():
        (tmp_path / name).write_bytes(pack({f"{at}.csv": TEXT for at in range(3)}))
        assert content(tmp_path, name) == [TEXT.encode()] * 3
        (tmp_path / name).write_bytes(pack({f"{at}.csv": TEXT for at in range(4)}))
        error = refused(tmp_path, name)
        assert error.problem == "unpacks to over 200,000 bytes and 5 times its size"
        assert error.path == str(tmp_path / name)
    for at in range(4):
        (tmp_path / f"{at}.csv.gz").write_bytes(gzipped(TEXT))
    assert len(content(tmp_path, "[0-2].csv.gz")) == 3
    assert refused(tmp_path, "*.csv.gz").path == str(tmp_path / "*.csv.gz")
    (tmp_path / "a.csv.gz").write_bytes(gzipped(TEXT))
    (member,) = members("a.csv.gz", tmp_path, (".csv",))
    for _ in range(10):
        with member.open() as stream:
            assert stream.read() == TEXT.encode()


def test_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ALLOWED_MEMBERS", 20)
    for name, pack in PACKS.items():
        files = {f"{at}.txt": "" for at in range(19)} | {"a.csv": ROWS}
        (tmp_path / name).write_bytes(pack(files))
        assert content(tmp_path, name) == [ROWS.encode()]
        (tmp_path / name).write_bytes(pack(files | {"19.txt": ""}))
        assert refused(tmp_path, name).problem == "has over 20 members"


def test_sizes_that_are_not_those_of_the_content(tmp_path: Path) -> None:
    """``zipfile`` reads stored and deflated members; one that ends early has its checksum."""
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = bytearray(zipped({"a.csv": ROWS}, method))
        at = data.rindex(b"PK\1\2") + 24
        data[at : at + 4] = (10).to_bytes(4, "little")
        (tmp_path / "a.zip").write_bytes(data)
        problem = refused(tmp_path, "a.zip").problem
        assert "truncated or damaged" in problem, method
        assert "\n" not in problem


def test_no_room_to_unpack_a_tar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tar.gz").write_bytes(tarred({"a.csv": ROWS}))
    monkeypatch.setattr(limits, "free_space", lambda _folder: 10)
    error = refused(tmp_path, "a.tar.gz")
    assert error.problem.startswith("there is no room to unpack it in ")
    assert error.problem.endswith(": 10 bytes are free")


@pytest.mark.parametrize("comment", [b"", b"PK\5\6 a comment"])
def test_a_large_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: bytes) -> None:
    monkeypatch.setattr(limits, "ALLOWED_DIRECTORY", 100_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", ROWS)
        archive.comment = comment[4:]
    assert content(tmp_path, "a.zip") == [ROWS.encode()]
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        for letter in "xyz":
            archive.writestr(letter * 50_000, "")
        archive.comment = comment[4:]
    assert "its directory has " in refused(tmp_path, "a.zip").problem


def test_a_large_directory_of_a_large_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zip64: another record states the size."""
    monkeypatch.setattr(limits, "ALLOWED_DIRECTORY", 100_000)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("a.csv", "b.txt", "x" * 50_000, "y" * 50_000):
            archive.writestr(name, ROWS)
    assert b"PK\6\6" in (tmp_path / "a.zip").read_bytes()
    assert "its directory has " in refused(tmp_path, "a.zip").problem


def test_members_that_share_bytes_or_are_links(tmp_path: Path) -> None:
    # Several entries of the directory for one member: each alone is within the limits.
    archive = zipped({"a.csv": TEXT * 20}, zipfile.ZIP_STORED)
    end = archive.rindex(b"PK\5\6")
    begin = archive.rindex(b"PK\1\2")
    directory = archive[begin:end] * 3
    record = bytearray(archive[end:])
    record[8:12] = (3).to_bytes(2, "little") * 2
    record[12:16] = len(directory).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(archive[:begin] + directory + record)
    assert refused(tmp_path, "a.zip").problem == "its members share the same bytes"
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        info = tarfile.TarInfo("a.csv")
        info.type, info.linkname = kind, "/etc/passwd"
        (tmp_path / "a.tar.gz").write_bytes(packed(info))
        assert refused(tmp_path, "a.tar.gz").problem == "not a regular file", kind
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as stream:
        entry = zipfile.ZipInfo("a.csv")
        entry.external_attr = 0o120777 << 16
        stream.writestr(entry, "/etc/passwd")
    error = refused(tmp_path, "a.zip")
    assert (error.path, error.problem) == (f"{tmp_path / 'a.zip'}!a.csv", "not a regular file")


def test_memory_follows_what_is_read(tmp_path: Path) -> None:
    """No more is unpacked than asked for."""
    data = zipped({"a.csv": "\n" * (24 << 20)})
    (tmp_path / "a.zip").write_bytes(data)
    (member,) = members("a.zip", tmp_path, (".csv",))
    tracemalloc.start()
    with member.open() as stream:
        assert len(stream.read(1 << 16)) == 1 << 16
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20  # the dictionary of LZMA takes 8 MiB


def packed(info: tarfile.TarInfo, data: bytes = b"") -> bytes:
    """A compressed tar with one member."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def test_a_compressed_tar_is_read_once_or_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["b.csv", "a.csv"]
    (tmp_path / "a.tgz").write_bytes(tarred({name: name * 1000 for name in names}))
    one, two = members("a.tgz", tmp_path, (".csv",))
    with one.open() as first, two.open() as second:
        parts = [(first.read(7), second.read(7)) for _ in range(715)]
    assert b"".join(part for part, _ in parts) == b"a.csv" * 1000
    assert b"".join(part for _, part in parts) == b"b.csv" * 1000
    # However many members it has, and however often each of them is read.
    (tmp_path / "a.tar.gz").write_bytes(tarred({f"{at:03}.csv": ROWS for at in range(50)}))
    opened = []
    usual = unpack_stream

    def noted(file: Any, *args: Any) -> Any:
        opened.append(file)
        return usual(file, *args)

    monkeypatch.setattr("geolookup.filesystem.unpacking.unpack_stream", noted)
    result = members("a.tar.gz", tmp_path, (".csv",))
    for member in [*result, *reversed(result)]:
        with member.open() as stream:
            assert stream.read() == ROWS.encode()
    assert (len(result), len(opened)) == (50, 1)


NO_HEADER = "truncated or damaged (a header that is not valid)"


def test_headers_that_are_not_valid(tmp_path: Path) -> None:
    version = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}
    sparse = {"GNU.sparse.size": "9", "GNU.sparse.map": "a,b"}
    for headers in ({"GNU.sparse.size": "nan"}, sparse, version):
        info = tarfile.TarInfo("a.csv")
        info.pax_headers = headers
        (tmp_path / "a.tar.gz").write_bytes(packed(info, ROWS.encode()))
        assert refused(tmp_path, "a.tar.gz").problem == NO_HEADER, headers
    # Each is read within the one before it.
    for kind in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE):
        info = tarfile.TarInfo("a.csv")
        info.type, info.size = kind, 9
        one = info.tobuf() + b"9 a=bcde\n".ljust(tarfile.BLOCKSIZE, b"\0")
        (tmp_path / "a.tar.gz").write_bytes(gzip.compress(one * 3000 + END))
        assert refused(tmp_path, "a.tar.gz").problem == NO_HEADER, kind
    info = tarfile.TarInfo("long")
    info.type = tarfile.XHDTYPE
    (tmp_path / "a.tar.gz").write_bytes(packed(info, bytes(8 << 20)))
    assert "a header of 8,388,608 bytes" in refused(tmp_path, "a.tar.gz").problem
    # A kilobyte states a member of 60 MiB, whose zeros are in no stream that counts them.
    info = tarfile.TarInfo("a.csv")
    info.pax_headers = {"GNU.sparse.size": str(60 << 20), "GNU.sparse.map": "0,0"}
    (tmp_path / "a.tar.gz").write_bytes(packed(info, ROWS.encode()))
    assert refused(tmp_path, "a.tar.gz").problem == "not a regular file"
