"""The files a source names: plain, compressed, archived, globbed, missing and damaged.

Strategy: the same rows in every container answer the same; damage of every byte ends in a
BuildError that names the file, or in the rows unharmed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from geolookup.errors import BuildError
from tests.builder.building import fails, recipe
from tests.builder.sources.readings import Read, one
from tests.internals.builder import Member, members
from tests.internals.filesystem import limits
from tests.skips import names_in_utf8
from tests.tiers import scaled

Files = Mapping[str, str | bytes]
HEADER = "network,isp\n"
ROWS = HEADER + "8.8.8.0/24,one\n8.8.9.0/24,two\n"


def zipped(content: Files, method: int = zipfile.ZIP_DEFLATED, *, encrypted: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, text in content.items():
            info = zipfile.ZipInfo(name, (2026, 11, 20, 0, 0, 0))
            archive.writestr(info, text, method)
    data = bytearray(stream.getvalue())
    if encrypted:  # the flag in both headers; Python writes no encrypted archives
        data[6] |= 1
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def gzipped(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def bzip2(text: str) -> bytes:
    return bz2.compress(text.encode())


def xz(text: str) -> bytes:
    return lzma.compress(text.encode())


def zstd(text: str) -> bytes:
    return bytes(pa.Codec("zstd").compress(text.encode(), asbytes=True))


def tarred(content: Files, compression: str = "gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=f"w:{compression}") as archive:  # type: ignore[call-overload]
        for name, text in content.items():
            info = tarfile.TarInfo(name)
            data = text if isinstance(text, bytes) else text.encode()
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


#: What lies beside the data in archives that people make; none of it is read.
BESIDE = {
    "README.csv.md": "no rows",
    "x/LICENSE_LITE.TXT": "no rows",
    "x/copyright.txt": "no rows",
    "__MACOSX/x/._a.csv": "\0\5\x16\7",
    "x/._b.csv": "\0\5\x16\7",
}
CONTAINERS = {
    "a.csv": ROWS.encode(),
    "a.txt": ROWS.encode(),
    "a.csv.gz": gzipped(ROWS),
    "two.csv.gz": gzipped(ROWS[:20]) + gzipped(ROWS[20:]),
    "a.csv.GZ": gzipped(ROWS),
    "a.csv.zst": zstd(ROWS),
    "two.csv.zst": zstd(ROWS[:20]) + zstd(ROWS[20:]),
    "a.csv.bz2": bzip2(ROWS),
    "two.csv.bz2": bzip2(ROWS[:20]) + bzip2(ROWS[20:]),
    "a.csv.XZ": xz(ROWS),
    "two.csv.xz": xz(ROWS[:20]) + bytes(8) + xz(ROWS[20:]) + bytes(4),
    "a.zip": zipped({"folder/a.CSV": ROWS, "README.txt": "no rows"}),
    "stored.zip": zipped({"a.csv": ROWS}, zipfile.ZIP_STORED),
    "crowded.zip": zipped({"x/a.csv": ROWS, **BESIDE}),
    "a.tar.gz": tarred({"x/a.csv": ROWS, **BESIDE}),
    "a.TGZ": tarred({"x/a.CSV": ROWS}),
    "a.tar.bz2": tarred({"x/a.csv": ROWS, **BESIDE}, "bz2"),
    "a.tbz2": tarred({"x/a.csv": ROWS}, "bz2"),
    "a.tar.xz": tarred({"x/a.csv": ROWS, **BESIDE}, "xz"),
    "a.txz": tarred({"x/a.csv": ROWS}, "xz"),
    "a.tar.zst": bytes(pa.Codec("zstd").compress(tarred({"x/a.csv": ROWS}, ""), asbytes=True)),
}


def test_every_container_gives_its_rows(read: Read, tmp_path: Path) -> None:
    for name, content in CONTAINERS.items():
        reading = read({name: content}, recipe(f'path = "{name}"'))
        assert reading.source.read == 2, name
        result = reading.values("isp", "8.8.8.1", "8.8.9.1", "8.8.10.1")
        assert result == ["one", "two", None], name
    for name in ("crowded.zip", "a.tar.gz"):
        (tmp_path / name).write_bytes(CONTAINERS[name])
        for suffixes in ((".csv", ".txt"), (".csv", ".txt", ".md")):
            (member,) = members(name, tmp_path, suffixes)
            assert member.label == f"{tmp_path / name}!x/a.csv"


@names_in_utf8
def test_paths_of_a_glob_in_bytewise_order(read: Read, tmp_path: Path) -> None:
    names = ["Z.csv", "a-b.csv", "a/c.csv", "a.csv", "é.csv"]
    (tmp_path / "a").mkdir()
    (tmp_path / "folder.csv").mkdir()
    files = {name: f"{HEADER}8.8.8.0/24,{name}\n" for name in names}
    actual = [str(item.label) for item in _members(tmp_path, files, "**/*.csv")]
    assert actual == [str(tmp_path / name) for name in sorted(names, key=str.encode)]
    # Of equal ranges the later row decides.
    assert read({}, recipe('path = "**/*.csv"')).values("isp", "8.8.8.8") == ["é.csv"]


def _members(folder: Path, files: dict[str, str], pattern: str) -> list[Member]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return members(pattern, folder, (".csv",))


def test_members_of_an_archive_by_name(read: Read) -> None:
    content = {name: f"{HEADER}8.8.8.0/24,{name}\n" for name in ("b.csv", "c.txt", "a.csv")}
    reading = read({"x.zip": zipped(content)}, recipe('path = "x.zip"'))
    assert (reading.source.read, reading.values("isp", "8.8.8.8")) == (2, ["b.csv"])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", ROWS + "nowhere,x\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.csv", HEADER + "\nelsewhere,y\n8.8.10.0/24,three\n")
    reading = read({"a.zip": stream.getvalue()}, recipe('path = "a.zip"'))
    assert reading.source.read == 5
    assert reading.values("isp", "8.8.8.1", "8.8.10.1") == ["one", "three"]
    assert [line for line, _ in reading.bad_lines()] == [4, 3]


def test_a_folder(read: Read, tmp_path: Path) -> None:
    """Its data files are read, packed or not, in bytewise order; others are skipped."""
    below = tmp_path / "data" / "below"
    below.mkdir(parents=True)
    (below / "a.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "data" / "b.CSV.gz").write_bytes(gzipped(ROWS))
    (tmp_path / "data" / "c.zip").write_bytes(zipped({"c.csv": ROWS, "readme.txt": "x"}))
    for name in ("notes.txt", "README.md", ".hidden.csv", "licence.csv.txt"):
        (tmp_path / "data" / name).write_text("no rows", encoding="utf-8")
    assert read({}, recipe('path = "data"')).source.read == 6
    (tmp_path / "empty").mkdir()
    remedy = "put it there, or correct the path in the recipe"
    for path, text in (
        ("empty", f"{tmp_path / 'empty'}: no .csv file in the folder; {remedy}"),
        ("/dev/null", "/dev/null: not a file; name a file, a folder or a glob of files"),
    ):
        assert str(fails(tmp_path, {}, recipe(f'path = "{path}"'))) == text


#: Found by fuzzing: the directory says that its files begin before the archive.
MISPLACED = zipped({"a.csv": ROWS})[:-6] + (1 << 20).to_bytes(4, "little") + bytes(2)
#: Found by fuzzing: a name that claims to be UTF-8.
NOT_UTF8 = zipped({"ä.csv": ROWS}).replace("ä".encode(), b"\xc3(")
PLAIN = ("a.gz", "a.zst", "a.xz", "a.bz2")
#: An .xz whose dictionary takes half a gigabyte.
HUNGRY = lzma.compress(
    ROWS.encode(), filters=[{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 512 << 20}]
)
GONE = "no such file; put it there, or correct the path in the recipe"
FAILURES = [
    ("gone.csv", b"x", f"gone.csv: {GONE}"),
    ("g*ne.csv", b"x", f"g*ne.csv: {GONE}"),
    (
        "nul\\u0000.csv",
        b"x",
        "nul\\x00.csv: the name contains a NUL character; correct the path in the recipe",
    ),
    ("two\\nlines.csv", b"x", f"two\\nlines.csv: {GONE}"),
    ("x" * 300, b"x", "x: cannot be read (File name too long); check its name and"),
    ("a.csv", b"", "a.csv: empty file; fetch it again"),
    ("a.gz", gzipped(""), "a.gz:1: no range in the header; "),
    ("a.gz", b"", "a.gz: empty file; fetch it again"),
    ("a.gz", CONTAINERS["a.csv.gz"][:-9], "marker was reached); fetch it again"),
    ("a.zst", CONTAINERS["a.csv.zst"][:-3], "(Truncated compressed stream); fetch it again"),
    ("a.zst", b"network,isp", "a.zst: truncated or damaged (ZSTD decompress failed: "),
    ("a.xz", xz(ROWS)[:-9], "a.xz: truncated or damaged (Compressed file ended before the end"),
    ("a.xz", xz(ROWS) + ROWS.encode(), "a.xz: truncated or damaged (Input format not supported"),
    ("a.xz", HUNGRY, "a.xz: truncated or damaged (Memory usage limit exceeded); fetch it again"),
    ("a.bz2", bzip2(ROWS)[:-9], "a.bz2: truncated or damaged (Truncated compressed stream"),
    ("a.bz2", bzip2(ROWS) + b"more", "a.bz2: truncated or damaged (bz2 decompress failed: "),
    ("a.zip", b"no", "a.zip: truncated or damaged (File is not a zip file); fetch it again"),
    ("a.zip", CONTAINERS["a.zip"][:-30], "(File is not a zip file); fetch it again"),
    ("a.zip", zipped({"a.txt": ROWS}), "no .csv file in the archive, but a.txt; name another file"),
    ("a.zip", zipped({}), "no .csv file in the archive; name another file"),
    ("a.zip", zipped({"b.csv": ROWS}, encrypted=True), "a.zip!b.csv: is encrypted; unpack"),
    ("a.zip", zipped({"b.csv": ROWS}, zipfile.ZIP_BZIP2), "by method 12, not by deflate; unpack"),
    ("a.zip", MISPLACED, "; fetch it again"),
    ("a.zip", NOT_UTF8, "a.zip: truncated or damaged ('utf-8' codec can't decode"),
    ("a.zip", zipped({"a\33[2J\n.csv": "no rows"}), "a.zip!a\\x1b[2J\\n.csv:1: "),
    ("a.tgz", CONTAINERS["a.csv.gz"], "a.tgz: truncated or damaged ("),
    ("a.tgz", CONTAINERS["a.tar.gz"][:-30], "a.tgz: truncated or damaged ("),
]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    for path, content, text in FAILURES:
        name = path if path in ("a.csv", "a.zip", "a.tgz") or path in PLAIN else "a.csv"
        error = fails(tmp_path, {name: content}, recipe(f'path = "{path}"'))
        assert text in str(error), (path, text)
        assert str(error).startswith(str(tmp_path)), (path, text)
    # Found by fuzzing: ``auto`` looks for a folder first.
    path, content, text = next(failure for failure in FAILURES if len(failure[0]) == 300)
    error = fails(tmp_path, {"a.csv": content}, one("auto", path))
    assert text in str(error)


BOMBS: dict[str, Callable[[str], bytes]] = {
    "a.csv.gz": gzipped,
    "a.csv.zst": zstd,
    "a.zip": lambda text: zipped({"a.csv": text}),
    "a.tar.gz": lambda text: tarred({"a.csv": text}),
    "a.csv.xz": xz,
    "a.csv.bz2": bzip2,
    "a.tar.xz": lambda text: tarred({"a.csv": text}, "xz"),
}


def slow(*names: str) -> list[object]:
    return [pytest.param(name, marks=pytest.mark.long) for name in names]


@pytest.mark.parametrize("name", [*list(BOMBS)[:4], *slow(*list(BOMBS)[4:])])
def test_a_bomb_ends_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(limits, "ALLOWED_BYTES", 1 << 20)
    data = BOMBS[name](HEADER + "8.8.8.0/24,one\n" * 1_000_000)
    error = fails(tmp_path, {name: data}, recipe(f'path = "{name}"'))
    assert error.problem == "unpacks to over 1,048,576 bytes and 200 times its size"
    assert error.path == str(tmp_path / name)


DAMAGED = ("a.csv.gz", "a.csv.zst", "a.zip", "a.tar.gz")


@pytest.mark.parametrize("name", [*DAMAGED, *slow("a.csv.bz2", "two.csv.xz", "a.tar.xz")])
def test_damage_anywhere_is_told_or_harmless(tmp_path: Path, name: str) -> None:
    """What is read of a damaged file is what was written, where the file has a checksum."""
    rng, told, turns = random.Random(name), list[str](), scaled(50, 150)
    for _ in range(turns):
        data = bytearray(CONTAINERS[name])
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (tmp_path / name).write_bytes(data)
        try:
            for member in members(name, tmp_path, (".csv",)):
                with member.open() as stream:
                    same = stream.read() == ROWS.encode()
                    assert same or name.endswith(".zst")  # a frame of Arrow has none
        except BuildError as error:
            told.append(str(error))
    # Every bit of an .xz is checked.
    assert 0 < len(told) <= turns - (".xz" not in name)
    assert "\n" not in "".join(told)
