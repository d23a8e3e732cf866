"""How many rows may be rejected: 1 % of each source, or the number given, and not one more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.builder.building import fails, unwritable
from tests.conftest import Build


def text(good: int, bad: int) -> str:
    rows = [f"8.{n >> 8}.{n & 255}.0/24,x" for n in range(good)] + ["nowhere,x"] * bad
    return "network,isp\n" + "\n".join(rows)


@pytest.mark.parametrize(("good", "bad"), [(99, 1), (199, 1), (198, 2), (1, 0), (990, 10)])
def test_one_percent_may_be_rejected(build: Build, good: int, bad: int) -> None:
    _, report = build({"a.csv": text(good, bad)}, max_rejects=None)
    assert (report.sources[0].read, report.sources[0].rejected.total()) == (good + bad, bad)


@pytest.mark.parametrize(
    ("good", "bad", "limit"), [(98, 1, 0), (197, 2, 1), (0, 1, 0), (990, 11, 10)]
)
def test_more_than_one_percent_may_not(tmp_path: Path, good: int, bad: int, limit: int) -> None:
    error = fails(tmp_path, {"a.csv": text(good, bad)}, max_rejects=None)
    assert str(error) == (
        f"{tmp_path / 'a.csv'}:{good + 2}: not an address; {bad} of {good + bad:,} rows of"
        f" a.csv are rejected, at most {limit} are allowed;"
        " repair them, or allow them with 'build --max-rejects N'; '--rejects FILE' lists all"
    )


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_limit_given_replaces_the_share(build: Build, tmp_path: Path, limit: int) -> None:
    _, report = build({"a.csv": text(0, limit)}, max_rejects=limit)
    assert report.sources[0].rejected.total() == limit
    error = fails(tmp_path, {"a.csv": text(10_000, limit + 1)}, max_rejects=limit)
    assert f"{limit + 1} of {10_001 + limit:,} rows" in str(error)


def test_rows_of_wrong_cells_count(tmp_path: Path) -> None:
    error = fails(tmp_path, {"a.csv": text(99, 0) + "\n8.8.8.8,x,y\n8.8.8.8"}, max_rejects=None)
    assert str(error).startswith(f"{tmp_path / 'a.csv'}:101: wrong number of cells; 2 of 101 rows")


def test_the_limit_is_of_each_source(build: Build, tmp_path: Path) -> None:
    build({"a.csv": text(99, 1), "b.csv": text(99, 1)}, max_rejects=None)
    error = fails(tmp_path, {"a.csv": text(1000, 0), "b.csv": text(99, 2)}, max_rejects=None)
    assert str(error).startswith(
        f"{tmp_path / 'b.csv'}:101: not an address; 2 of 101 rows of b.csv"
    )


def test_the_rejects_are_written_when_the_build_stops(tmp_path: Path) -> None:
    fails(tmp_path, {"a.csv": text(1, 2)}, max_rejects=0, rejects=tmp_path / "r.csv")
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 3


@pytest.mark.parametrize("limit", [0, 10])
def test_rejects_that_cannot_be_written(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "nowhere" / "r.csv"
    error = unwritable(tmp_path, {"a.csv": text(1, 1)}, rejects=path, max_rejects=limit)
    assert str(error) == f"{path.parent}: no such folder; create it first"


def test_rejects_are_not_written_into_a_pipe(tmp_path: Path) -> None:
    """Opening one for writing waits for a reader."""
    os.mkfifo(tmp_path / "pipe")
    error = unwritable(tmp_path, {"a.csv": text(1, 1)}, rejects=tmp_path / "pipe")
    assert str(error) == f"{tmp_path / 'pipe'}: is not a regular file; name a file to write"
