"""What a recipe demands of the rows of a source, and rejected rows by file, line and reason.

Strategy: a writer that knows the line of each row it writes makes files with quoted line
breaks, blank lines, rows of too few and too many cells and bad ranges, in random order; the
file of rejects must name exactly the bad ones.
"""

from __future__ import annotations

import csv
import os
import random
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from geolookup.errors import count_text
from tests.builder.building import fails, recipe, unwritable
from tests.builder.sources.reading.test_inputs import zipped
from tests.builder.sources.readings import read_at
from tests.conftest import Build, build_at
from tests.internals.builder import Bound, delimited

HEADER = "network,isp\n"


def rows(count: int) -> str:
    return HEADER + "".join(f"8.8.{at}.0/24,x{at}\n" for at in range(count))


EMPTY = {
    "no rows": (HEADER, "no usable row"),
    "private rows": (HEADER + "10.0.0.0/8,x\n", "no usable row"),
    "bad ranges": (HEADER + "nowhere,x\n", "no usable row"),
    "no values": (HEADER + "8.8.8.0/24,\n", "no row with a value"),
    "invalid values": ("network,country_code\n8.8.8.0/24,XX\n", "no row with a value"),
}


def test_a_source_without_usable_rows(tmp_path: Path) -> None:
    for name, (text, problem) in EMPTY.items():
        folder = tmp_path / name
        folder.mkdir()
        error = fails(folder, {"a.csv": text}, empty="", rejects=folder / "rejects.csv")
        counted = f"a.csv: {count_text(text.count(chr(10)) - 1, 'row')} read, "
        assert error.problem.startswith(f"{problem} in {folder / 'a.csv'} ({counted}")
        lists = f"; {folder / 'rejects.csv'} lists the bad rows; "
        assert (lists in error.remedy) is (name in ("bad ranges", "invalid values"))
        assert error.remedy.endswith('; if it may be empty, write empty = "ok" in its recipe')
        assert ("own columns with private = true" in error.remedy) is (name == "private rows")
        assert "  " not in error.problem
        assert (folder / "rejects.csv").exists()
        assert not (folder / "dataset").exists()
    for text, _ in EMPTY.values():
        read_at(tmp_path, {"a.csv": text})


def test_min_rows_and_bad_values(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"\nmin_rows = 3')
    read_at(tmp_path, {"a.csv": rows(3)}, text)
    for line, problem in WRONG.items():
        text = recipe(f'path = "a.csv"\n{line}')
        assert fails(tmp_path, {"a.csv": rows(1)}, text, empty="").problem == problem


def test_all_unmet_demands_are_named(tmp_path: Path) -> None:
    text = recipe('path = "a.csv"\nmin_rows = 3\nmin_coverage = { asn = "10%" }')
    assert fails(tmp_path, {"a.csv": rows(1)}, text).problem == (
        "min_rows = 3 of a.csv: found 1 usable row; also "
        'min_coverage asn = "10%" of a.csv: found 0 of 1 row with a value'
    )


DROP = 'max_drop = "20%"'


def dropping(name: str) -> str:
    return recipe(f'path = "{name}"\n{DROP}')


def test_max_drop_compares_with_the_dataset_that_is_replaced(tmp_path: Path) -> None:
    """A source of another month is the same; of another name it is not."""
    unchecked = "max_drop was not checked: no earlier dataset has its rows"
    _, report = build_at(tmp_path, {"a-2026-01.csv": rows(10)}, dropping("a-2026-01.csv"))
    assert report.warnings == [f"a-2026-01.csv: {unchecked}"]
    files: dict[str, str | bytes] = {"a-2026-02.csv": rows(7)}
    assert fails(tmp_path, files, dropping("a-2026-02.csv")).problem == (
        'max_drop = "20%" of a-2026-02.csv: found 7 usable rows, 10 before'
    )
    _, report = build_at(tmp_path, {"a-2026-02.csv": rows(8)}, dropping("a-2026-02.csv"))
    assert report.warnings == []
    assert [demand.demand for demand in report.quality] == ['max_drop = "20%" of a-2026-02.csv']
    dataset, report = build_at(tmp_path, {"b.csv": rows(1)}, dropping("b.csv"))
    assert report.warnings == [f"b.csv: {unchecked}"]
    (dataset / "manifest.json").write_text('{"format": "geolookup-dataset"}', encoding="utf-8")
    _, report = build_at(tmp_path, {"b.csv": rows(1)}, dropping("b.csv"))
    assert report.warnings == [f"b.csv: {unchecked}"]


def test_shares_are_exact() -> None:
    """In floats 10,500 * 99.4 / 100 is more than 10,437."""
    assert 10_500 - Bound(Fraction("0.006")).of(10_500) == 10_437


def test_sources_that_lose_rows(build: Build, tmp_path: Path) -> None:
    _, report = build({"a.csv": rows(3), "b.csv": rows(2)})
    warning = "b.csv decides no address: earlier sources decide all of its rows"
    assert report.warnings == [warning]
    assert f"warning: {warning}" in list(report.lines())
    # A clean source takes one line; a row that smaller ones cover is counted.
    text = HEADER + "8.8.8.0/24,wide\n8.8.8.0/25,a\n8.8.8.128/25,b\n"
    _, report = build({"a.csv": text, "b.csv": HEADER + "9.9.9.0/24,x\n"})
    assert list(report.lines())[:3] == [
        "a.csv: 3 rows read, 2 used",
        "  covered     1 row whose addresses more specific rows decide",
        "b.csv: 1 row read, 1 used",
    ]
    files: dict[str, str | bytes] = {"x-2026-01.csv": rows(2), "x-2026-02.csv": rows(1)}
    reading = read_at(tmp_path, files, recipe('path = "x-*.csv"\nreleases = "all"'))
    assert reading.values("isp", "8.8.0.1", "8.8.1.1") == ["x0", "x1"]


WRONG = {
    "empty = true": "unknown value True of source.empty",
    'releases = "two"': "unknown value 'two' of source.releases",
    "min_rows = -1": "source.min_rows is not a number",
    f"min_rows = 0x{'f' * 5000}": "source.min_rows is not a number",
    'max_drop = "120%"': "source.max_drop is not a percentage",
    "max_drop = 20": "source.max_drop is not a percentage",
    "min_coverage = 5": "source.min_coverage is not a table",
    "min_coverage = { asn = 5 }": "source.min_coverage.asn is not a percentage",
    "max_nulled = 1.5": "source.max_nulled is not a percentage or a number",
    'max_nulled = { ips = "2%" }': "source.max_nulled: no field 'ips'",
    'max_not_read = "1%"': "source.max_not_read is not a number",
}


CELLS = "wrong number of cells"
#: Text of a row and its reason; "" is a good one, None a blank line.
KINDS: list[tuple[str, str | None]] = [
    ("8.8.{n}.0/24,good", ""),
    ('8.8.{n}.0/24,"good, {n}"', ""),
    ('8.8.{n}.0/24,"line{e}\r{n}"', ""),
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
RowRules = list[tuple[str, str, str]]  # line, reason, text


def written(seed: int, ending: str) -> tuple[str, RowRules]:
    """A CSV file and the rows of it that are to be rejected."""
    rng = random.Random(seed)
    text, line, expected = f"network,isp{ending}", 2, []
    for number in range(rng.randrange(100, 500)):
        # Most are good: whole blocks have no row to find.
        template, reason = rng.choice(KINDS[:4] * 10 + KINDS)
        row = template.format(n=number % 256, e=ending)
        if reason:
            expected.append((str(line), reason, row))
        text += row + ending
        line += len(re.findall("\r\n?|\n", row + ending))
    return text, expected


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["file", "line", "reason", "text"]
    return rows[1:]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [200, 1 << 20])
def test_rejects_name_the_rows_and_only_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, ending: str
) -> None:
    """Of several files; members of an archive by name, then the files of a glob by theirs."""
    monkeypatch.setattr(delimited, "BLOCK_BYTES", block)
    names = ("z.zip!x.csv", "z.zip!y.csv", "a1.csv", "a2.csv", "a3.csv", "a4.csv")
    made = {name: written(seed, ending) for seed, name in enumerate(names)}
    files: dict[str, str | bytes] = {name: text for name, (text, _) in made.items()}
    members = {name[6:]: str(files.pop(name)) for name in reversed(names[:2])}
    sources = recipe('path = "z.zip"', 'path = "a*.csv"')
    reading = read_at(tmp_path, {"z.zip": zipped(members), **files}, sources)
    expected = [(str(tmp_path / name), *row) for name, (_, rows) in made.items() for row in rows]
    assert len(expected) > 100
    assert [(row.file, str(row.line), row.reason, row.text) for row in reading.rejects] == expected
    counts = sum((source.rejected for source in reading.report.sources), Counter[str]())
    assert counts == Counter(reason for _, _, reason, _ in expected)


# --- how many may be: 1 % of each source, or the number given, and not one more


def counted(good: int, bad: int) -> str:
    rows = [f"8.{n >> 8}.{n & 255}.0/24,x" for n in range(good)] + ["nowhere,x"] * bad
    return "network,isp\n" + "\n".join(rows)


def test_one_percent_or_a_limit(tmp_path: Path) -> None:
    counts = [(99, 1), (199, 1), (198, 2), (1, 0), (990, 10)]
    for good, bad in counts:
        source = read_at(tmp_path, {"a.csv": counted(good, bad)}, max_rejected=None).source
        assert (source.read, source.rejected.total()) == (good + bad, bad)
    for limit in (0, 1, 5):
        source = read_at(tmp_path, {"a.csv": counted(0, limit)}, max_rejected=limit).source
        assert source.rejected.total() == limit
        error = fails(tmp_path, {"a.csv": counted(100, limit + 1)}, max_rejected=limit)
        assert f"{limit + 1} of {101 + limit} rows" in str(error)


def test_more_than_one_percent_may_not(tmp_path: Path) -> None:
    for good, bad, limit in ((98, 1, 0), (197, 2, 1), (0, 1, 0), (990, 11, 10)):
        error = fails(tmp_path, {"a.csv": counted(good, bad)}, max_rejected=None)
        assert str(error) == (
            f"{tmp_path / 'a.csv'}:{good + 2}: not an address: 'nowhere,x';"
            f" {bad} of {count_text(good + bad, 'row')} of a.csv rejected, the limit is {limit}"
            ' (max_rejected = "1%"); correct the file, or raise max_rejected in its [[source]]'
            " or by 'build --max-rejected LIMIT'; 'build --rejects FILE' lists all"
        )
    error = fails(tmp_path, {"a.csv": counted(99, 0) + "\n8.8.8.8,x,y\n8.8.8.8"}, max_rejected=None)
    problem = f"{tmp_path / 'a.csv'}:101: wrong number of cells: '8.8.8.8,x,y'; 2 of 101 rows"
    assert str(error).startswith(problem)


def test_all_exceeded_limits_are_named(tmp_path: Path) -> None:
    text = "network,asn,country_code\nnowhere,1,US\n8.8.8.0/24,x,XX\n8.8.9.0/24,5,US\n"
    error = fails(tmp_path, {"a.csv": text}, max_rejected=None, max_nulled=None)
    assert (error.path, error.line) == (str(tmp_path / "a.csv"), 2)
    for counts in (
        "1 of 3 rows of a.csv rejected, the limit is 0",
        "; also 1 of 2 values of country_code in a.csv nulled, the limit is 0",
        "; also 1 of 2 values of asn in a.csv nulled, the limit is 0",
    ):
        assert counts in error.problem
    raised = "raise max_rejected and max_nulled in its [[source]]"
    options = "'build --max-rejected LIMIT --max-nulled LIMIT'"
    assert f"{raised} or by {options}; 'build --rejects FILE' lists all" in error.remedy


REMEDIES = {
    'latitude,longitude\n8.8.8.8,"52,5","13,4"': 'write decimal = "," in [source.cells]',
    "asn\n8.8.8.8,N/A": 'write empty = ["N/A"] in [source.cells]',
    "asn\n8.8.8.8,\\N": r'write empty = ["\\N"] in [source.cells]',
    "latitude,longitude\n8.8.8.8,-122.1,37.4": "swap latitude and longitude in columns",
    "latitude,longitude\n8.8.8.8,200,37.4": "correct the file",
}


@pytest.mark.parametrize("rows", REMEDIES)
def test_how_a_recipe_reads_invalid_values(tmp_path: Path, rows: str) -> None:
    error = fails(tmp_path, {"a.csv": f"network,{rows}"}, max_nulled=None)
    assert f"{REMEDIES[rows]}, or raise max_nulled" in str(error)


def test_rejects_of_a_build_that_stops(tmp_path: Path) -> None:
    fails(tmp_path, {"a.csv": counted(1, 2)}, max_rejected=0, rejects=tmp_path / "r.csv")
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 3
    os.mkfifo(tmp_path / "pipe")  # opening one for writing waits for a reader
    for path, said in (
        (tmp_path / "nowhere" / "r.csv", f"{tmp_path / 'nowhere'}: no such folder; create it"),
        (tmp_path / "pipe", f"{tmp_path / 'pipe'}: is not a regular file; name a file to write"),
    ):
        for limit in (0, 10):
            error = unwritable(tmp_path, {"a.csv": counted(1, 1)}, rejects=path, max_rejected=limit)
            assert str(error).startswith(said)
