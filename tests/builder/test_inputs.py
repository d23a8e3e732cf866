"""The files a source names: plain, compressed, archived, globbed, missing and damaged.

Strategy: the same rows in every container answer the same; damage of every byte ends in a
BuildError that names the file, or in the rows unharmed.
"""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

from builder.errors import BuildError
from builder.inputs import Member, members
from tests.builder.building import fails, isps, recipe
from tests.conftest import Build

HEADER = "network,isp\n"
ROWS = HEADER + "8.8.8.0/24,one\n8.8.9.0/24,two\n"


def zipped(
    content: dict[str, str], method: int = zipfile.ZIP_DEFLATED, *, encrypted: bool = False
) -> bytes:
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


def zstd(text: str) -> bytes:
    return bytes(pa.Codec("zstd").compress(text.encode(), asbytes=True))


CONTAINERS = {
    "a.csv": ROWS.encode(),
    "a.txt": ROWS.encode(),
    "a.csv.gz": gzipped(ROWS),
    "two.csv.gz": gzipped(ROWS[:20]) + gzipped(ROWS[20:]),
    "a.csv.GZ": gzipped(ROWS),
    "a.csv.zst": zstd(ROWS),
    "two.csv.zst": zstd(ROWS[:20]) + zstd(ROWS[20:]),
    "a.zip": zipped({"folder/a.CSV": ROWS, "README.txt": "no rows"}),
    "stored.zip": zipped({"a.csv": ROWS}, zipfile.ZIP_STORED),
    "bzip2.zip": zipped({"a.csv": ROWS}, zipfile.ZIP_BZIP2),
    "lzma.zip": zipped({"a.csv": ROWS}, zipfile.ZIP_LZMA),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_every_container_gives_its_rows(build: Build, name: str) -> None:
    output, report = build({name: CONTAINERS[name]}, recipe(f'path = "{name}"'))
    assert report.sources[0].read == 2
    assert isps(output, "8.8.8.1", "8.8.9.1", "8.8.10.1") == ["one", "two", None]


def test_paths_of_a_glob_in_bytewise_order(build: Build, tmp_path: Path) -> None:
    names = ["Z.csv", "a-b.csv", "a/c.csv", "a.csv", "é.csv"]
    (tmp_path / "a").mkdir()
    (tmp_path / "folder.csv").mkdir()
    files = {name: f"{HEADER}8.8.8.0/24,{name}\n" for name in names}
    found = [str(each.label) for each in _found(tmp_path, files, "**/*.csv")]
    assert found == [str(tmp_path / name) for name in sorted(names, key=str.encode)]
    # Of equal ranges the later row decides.
    output, _ = build({}, recipe('path = "**/*.csv"'))
    assert isps(output, "8.8.8.8") == ["é.csv"]


def _found(folder: Path, files: dict[str, str], pattern: str) -> list[Member]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return members(pattern, folder, (".csv",))


def test_members_of_an_archive_by_name(build: Build) -> None:
    content = {name: f"{HEADER}8.8.8.0/24,{name}\n" for name in ("b.csv", "c.txt", "a.csv")}
    output, report = build({"x.zip": zipped(content)}, recipe('path = "x.zip"'))
    assert report.sources[0].read == 2
    assert isps(output, "8.8.8.8") == ["b.csv"]


def test_two_members_of_one_name_are_two(build: Build, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", ROWS + "nowhere,x\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.csv", HEADER + "\nelsewhere,y\n8.8.10.0/24,three\n")
    output, report = build(
        {"a.zip": stream.getvalue()}, recipe('path = "a.zip"'), rejects=tmp_path / "r.csv"
    )
    assert (report.sources[0].read, report.sources[0].rejected.total()) == (5, 2)
    assert isps(output, "8.8.8.1", "8.8.10.1") == ["one", "three"]
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == ["4", "3"]


@pytest.mark.parametrize("name", ["a[1].csv", "b*.csv", "c?.csv"])
def test_a_file_whose_name_looks_like_a_glob(build: Build, name: str) -> None:
    files: dict[str, str | bytes] = {name: ROWS, "a1.csv": HEADER, "bb.csv": HEADER}
    _, report = build(files, recipe(f'path = "{name}"'))
    assert report.sources[0].read == 2


def test_a_pattern_that_finds_a_file_twice(build: Build) -> None:
    _, report = build({"a.csv": ROWS}, recipe('path = "**/**/*.csv"'))
    assert report.sources[0].read == 2


FAILURES = [
    ("gone.csv", b"x", "gone.csv: no such file; correct the path in the recipe"),
    ("g*ne.csv", b"x", "g*ne.csv: no such file; correct the path in the recipe"),
    ("a.csv/b.csv", b"x", "a.csv/b.csv: no such file; correct the path in the recipe"),
    ("nul\\u0000.csv", b"x", "nul\0.csv: no such file; correct the path in the recipe"),
    (".", b"x", ": not a file; name a file or a glob of files"),
    ("x" * 300, b"x", "x: cannot be read (File name too long)"),
    ("a.csv", b"", "a.csv: empty file; fetch it again"),
    ("a.gz", b"", "a.gz: empty file; fetch it again"),
    ("a.gz", b"no", "a.gz: truncated or damaged (Not a gzipped file (b'no')); fetch it again"),
    ("a.gz", CONTAINERS["a.csv.gz"][:-9], "marker was reached); fetch it again"),
    ("a.zst", CONTAINERS["a.csv.zst"][:-3], "(Truncated compressed stream); fetch it again"),
    ("a.zst", b"network,isp", "a.zst: truncated or damaged (ZSTD decompress failed: "),
    ("a.zip", b"no", "a.zip: truncated or damaged (File is not a zip file); fetch it again"),
    ("a.zip", CONTAINERS["a.zip"][:-30], "(File is not a zip file); fetch it again"),
    ("a.zip", zipped({"a.txt": ROWS}), "no .csv file in the archive; name another file"),
    ("a.zip", zipped({}), "no .csv file in the archive; name another file"),
    ("a.zip", zipped({"b.csv": ROWS}, encrypted=True), "a.zip!b.csv: cannot be unpacked (File"),
]


@pytest.mark.parametrize(("path", "content", "text"), FAILURES, ids=range(len(FAILURES)))
def test_what_cannot_be_read(tmp_path: Path, path: str, content: bytes, text: str) -> None:
    name = path if path in ("a.csv", "a.gz", "a.zst", "a.zip") else "a.csv"
    error = fails(tmp_path, {name: content}, recipe(f'path = "{path}"'))
    assert text in str(error)
    assert str(error).startswith(str(tmp_path))


@pytest.mark.parametrize("name", ["a.csv.gz", "a.csv.zst", "a.zip", "bzip2.zip", "lzma.zip"])
def test_damage_anywhere_is_told_or_harmless(tmp_path: Path, name: str) -> None:
    rng = random.Random(name)
    for _ in range(150):
        data = bytearray(CONTAINERS[name])
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        (tmp_path / name).write_bytes(data)
        with suppress(BuildError):
            for member in members(name, tmp_path, (".csv",)):
                with member.open() as stream:
                    stream.read()
