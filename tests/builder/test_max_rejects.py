"""How many rows may be rejected: 1 % of each source, or the number given, and not one more."""

from __future__ import annotations

import os
from pathlib import Path

from tests.builder.building import fails, unwritable
from tests.conftest import Build


def text(good: int, bad: int) -> str:
    rows = [f"8.{n >> 8}.{n & 255}.0/24,x" for n in range(good)] + ["nowhere,x"] * bad
    return "network,isp\n" + "\n".join(rows)


def test_one_percent_of_each_source_may_be_rejected(build: Build) -> None:
    counts = [(99, 1), (199, 1), (198, 2), (1, 0), (990, 10)]
    files = {f"{at}.csv": text(good, bad) for at, (good, bad) in enumerate(counts)}
    _, report = build(files, max_rejects=None)
    reported = [(each.read, each.rejected.total()) for each in report.sources]
    assert reported == [(good + bad, bad) for good, bad in counts]


def test_more_than_one_percent_may_not(tmp_path: Path) -> None:
    for good, bad, limit in ((98, 1, 0), (197, 2, 1), (0, 1, 0), (990, 11, 10)):
        error = fails(tmp_path, {"a.csv": text(good, bad)}, max_rejects=None)
        assert str(error) == (
            f"{tmp_path / 'a.csv'}:{good + 2}: not an address; {bad} of {good + bad:,} rows of"
            f" a.csv are rejected, at most {limit} are allowed;"
            " repair them, or allow them with 'build --max-rejects N'; '--rejects FILE' lists all"
        )


def test_a_limit_given_replaces_the_share(build: Build, tmp_path: Path) -> None:
    for limit in (0, 1, 5):
        _, report = build({"a.csv": text(0, limit)}, max_rejects=limit)
        assert report.sources[0].rejected.total() == limit
        error = fails(tmp_path, {"a.csv": text(1_000, limit + 1)}, max_rejects=limit)
        assert f"{limit + 1} of {1_001 + limit:,} rows" in str(error)


def test_rows_of_wrong_cells_count(tmp_path: Path) -> None:
    error = fails(tmp_path, {"a.csv": text(99, 0) + "\n8.8.8.8,x,y\n8.8.8.8"}, max_rejects=None)
    assert str(error).startswith(f"{tmp_path / 'a.csv'}:101: wrong number of cells; 2 of 101 rows")


def test_the_limit_is_of_each_source(tmp_path: Path) -> None:
    error = fails(tmp_path, {"a.csv": text(1000, 0), "b.csv": text(99, 2)}, max_rejects=None)
    assert str(error).startswith(
        f"{tmp_path / 'b.csv'}:101: not an address; 2 of 101 rows of b.csv"
    )


def test_the_rejects_are_written_when_the_build_stops(tmp_path: Path) -> None:
    fails(tmp_path, {"a.csv": text(1, 2)}, max_rejects=0, rejects=tmp_path / "r.csv")
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 3


def test_rejects_that_cannot_be_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening one for writing waits for a reader
    for path, said in (
        (tmp_path / "nowhere" / "r.csv", f"{tmp_path / 'nowhere'}: no such folder; create it"),
        (tmp_path / "pipe", f"{tmp_path / 'pipe'}: is not a regular file; name a file to write"),
    ):
        for limit in (0, 10):
            error = unwritable(tmp_path, {"a.csv": text(1, 1)}, rejects=path, max_rejects=limit)
            assert str(error).startswith(said)
