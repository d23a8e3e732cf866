"""Rejected rows by file, line and reason: the file of rejects against what was written.

Strategy: a writer that knows the line of each row it writes makes files with quoted line
breaks, blank lines, rows of too few and too many cells and bad ranges, in random order; the
file of rejects must name exactly the bad ones.
"""

from __future__ import annotations

import csv
import io
import os
import random
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from geolookup_builder.sources.reading import delimited

from tests.builder.building import recipe
from tests.conftest import Build

CELLS = "wrong number of cells"
#: Text of a row and its reason; "" is a good one, None a blank line.
KINDS: list[tuple[str, str | None]] = [
    ("8.8.{n}.0/24,good", ""),
    ('8.8.{n}.0/24,"good, {n}"', ""),
    ('8.8.{n}.0/24,"line{e}{e}{n}"', ""),
    ("", None),
    ("8.8.{n}.0/24", CELLS),
    ("8.8.{n}.0/24,a,b", CELLS),
    ('8.8.{n}.0/24,"a{e}b",c', CELLS),
    ("nowhere {n},x", "not an address"),
    ('"no{e}where {n}","x{e}{e}y"', "not an address"),
    ("8.8.{n}.1/24,x", "host bits set"),
    ("8.8.{n}.0/33,é", "not a prefix length"),
    (",x", "not an address"),
]
Expected = list[tuple[str, str, str]]  # line, reason, text


def written(seed: int, ending: str) -> tuple[str, Expected]:
    """A CSV file and the rows of it that are to be rejected."""
    rng = random.Random(seed)
    text, line, expected = f"network,isp{ending}", 2, []
    for number in range(rng.randrange(1, 120)):
        template, reason = rng.choice(KINDS)
        row = template.format(n=number % 256, e=ending)
        if reason:
            expected.append((str(line), reason, row))
        text += row + ending
        line += row.count(ending) + 1
    return text, expected


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["file", "line", "reason", "text"]
    return rows[1:]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [200, 1 << 20])
def test_rejects_name_the_rows_and_only_them(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, ending: str
) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    files = {f"{seed}.csv": written(seed, ending) for seed in range(6)}
    texts = {name: text for name, (text, _) in files.items()}
    _, report = build(texts, rejects=tmp_path / "rejects.csv")
    expected = [[str(tmp_path / name), *row] for name, (_, rows) in files.items() for row in rows]
    assert len(expected) > 100
    assert read(tmp_path / "rejects.csv") == expected
    for source, (_, rows) in zip(report.sources, files.values(), strict=True):
        assert source.rejected == Counter(reason for _, reason, _ in rows)


def test_the_source_itself_is_read_before_it_is_replaced(build: Build, tmp_path: Path) -> None:
    text, expected = written(1, "\n")
    build({"a.csv": text}, rejects=tmp_path / "a.csv")
    assert [tuple(row[1:]) for row in read(tmp_path / "a.csv")] == expected


def test_several_files_members_and_sources(build: Build, tmp_path: Path) -> None:
    texts = {name: written(seed, "\n") for seed, name in enumerate(("a1.csv", "a2.csv"), 50)}
    members = {name: written(seed, "\n") for seed, name in enumerate(("y.csv", "x.csv"), 60)}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, (text, _) in members.items():
            archive.writestr(name, text)
    files = {"z.zip": stream.getvalue(), **{name: text for name, (text, _) in texts.items()}}
    sources = recipe('path = "z.zip"', 'path = "a*.csv"')
    _, report = build(files, sources, rejects=tmp_path / "rejects.csv")
    expected = [
        [str(tmp_path / name), *row]
        for name, (_, rows) in [
            *((f"z.zip!{member}", members[member]) for member in sorted(members)),
            *texts.items(),
        ]
        for row in rows
    ]
    assert read(tmp_path / "rejects.csv") == expected
    assert sum(source.rejected.total() for source in report.sources) == len(expected)


#: Text of a file, and its rejected rows.
FEW: tuple[tuple[str, Expected], ...] = (
    ("network,isp\n8.8.8.0/24,x\n", []),
    ("\ufeffnetwork\n\n\nx\n", [("4", "not an address", "x")]),
    (
        "network,isp\nx\n\ny,\nz\n",
        [("2", CELLS, "x"), ("4", "not an address", "y,"), ("5", CELLS, "z")],
    ),
    ("network,isp\nx\nz", [("2", CELLS, "x"), ("3", CELLS, "z")]),
)


def test_few_rows(build: Build, tmp_path: Path) -> None:
    """None, after a byte order mark and blank lines, nothing but rows of wrong cells."""
    files = {f"{at}.csv": text for at, (text, _) in enumerate(FEW)}
    _, report = build(files, rejects=tmp_path / "r.csv")
    assert read(tmp_path / "r.csv") == [
        [str(tmp_path / f"{at}.csv"), *row] for at, (_, rows) in enumerate(FEW) for row in rows
    ]
    assert [each.read for each in report.sources] == [1, 1, 3, 2]


def test_cells_of_a_megabyte_are_written_whole(build: Build, tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    build({"a.csv": f"network,isp\nx,{'y' * (1 << 20)}\n"}, rejects=tmp_path / "r.csv")
    assert csv.field_size_limit() == limit
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8")) > 1 << 20


@pytest.mark.skipif(os.name != "posix", reason="names that are not UTF-8 are bytes on POSIX alone")
def test_a_file_whose_name_is_not_utf8(build: Build, tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff.csv")
    build({name: "network\nx\n"}, recipe('path = "*.csv"'), rejects=tmp_path / "r.txt")
    assert b"a\xff.csv,2,not an address,x\n" in (tmp_path / "r.txt").read_bytes()
