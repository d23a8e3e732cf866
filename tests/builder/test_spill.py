"""Builds whose ranges exceed the memory: errors, a full disk, a killed process, and the budget."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import geolookup
from geolookup.errors import BuildError
from tests.builder.building import fails, known, unwritable
from tests.conftest import build_at
from tests.corrupt.test_full_disk import mounted
from tests.internals.builder import (
    Columns,
    JoinedIntervals,
    MemoryBudget,
    SourceRows,
    bands,
    memory,
)
from tests.internals.contract import MAX
from tests.internals.dataset import Addresses
from tests.internals.filesystem import limits
from tests.property.test_spilled import tiny_memory

ROWS = "network,city_name\n" + "".join(f"20.{n}.0.0/16,City {n}\n" for n in range(200))
EQUAL = "network,city_name\n" + "".join(f"20.{n}.0.0/16,City\n" for n in range(200))
FILES: dict[str, str | bytes] = {"a.csv": ROWS}


def test_an_error_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BuildError("a.csv", "a problem")

    monkeypatch.setattr(JoinedIntervals, "finish", fail)
    with tiny_memory():
        fails(tmp_path, FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "recipe.toml"]


def test_a_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=64k", "none"), tiny_memory():
        (folder / "filler").write_bytes(bytes(24_000))
        text = str(unwritable(folder, FILES))
        problem = "bytes beside it (No space left on device); free space, or raise max_memory"
        assert problem in text
        assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "filler", "recipe.toml"]
        gc.collect()  # the frames of the error hold mapped files
        (folder / "more").write_bytes(bytes(limits.free_space(folder)))
        assert "are free on its disk" in str(unwritable(folder, FILES))
        assert len([*folder.iterdir()]) == 4
        gc.collect()


def test_rows_are_written_when_they_and_their_values_exceed_their_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the 200 rows takes 16 bytes, a new city more; a batch has at most 13 rows."""
    written: list[int] = []

    def end_run(rows: SourceRows) -> None:
        written.append(rows.nbytes)
        end(rows)
        assert rows.nbytes == 0

    end = SourceRows.end_run
    monkeypatch.setattr(SourceRows, "end_run", end_run)
    for text, least, most in ((ROWS, 300, 600), (EQUAL, 800, 1000 + 13 * 16)):
        written.clear()
        with tiny_memory(rows=1000, band=1 << 20):
            build_at(tmp_path, {"a.csv": text})
        assert sum(written) == 200 * 16
        assert max(written) <= most
        assert min(written[:-1]) > least  # only values after the last run count


def test_values_that_become_equal_within_a_run(tmp_path: Path) -> None:
    """Rows of earlier runs keep their tuples when later ones are merged with them."""
    codes = ("de", "DE", "fr", "FR")
    rows = "network,country_code\n" + "".join(f"20.{n}.0.0/16,{codes[n % 4]}\n" for n in range(99))
    with tiny_memory():
        dataset, _ = build_at(tmp_path, {"a.csv": rows})
    records = known(dataset, *(f"20.{n}.0.1" for n in range(99)))
    of_rows = [record["country_code"] for record in records]
    assert of_rows == [codes[n % 4].upper() for n in range(99)]


@pytest.mark.parametrize("size", ["1", "much", "499999999", 5])
def test_a_malformed_size(tmp_path: Path, size: str | int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        geolookup.build("a.csv", tmp_path / "dataset", max_memory=size)


def test_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three quarters of the free memory by default; the process itself takes 260 MiB of it."""
    monkeypatch.setattr(memory, "available", lambda: 4 * 10**9)
    assert MemoryBudget.of(None) == MemoryBudget.of("3GB")
    monkeypatch.setattr(memory, "available", lambda: 1)
    assert MemoryBudget.of(None) == MemoryBudget.of("500MB") == MemoryBudget.of(memory.LEAST)
    room = 2 * 10**9 - (260 << 20)
    assert MemoryBudget.of("2GB") == MemoryBudget(
        2 * 10**9, rows=room // 4, band=room * 2 // 5, values=room // 2
    )


def test_distinct_values_may_take_their_part_and_not_one_byte_more() -> None:
    columns = Columns(MemoryBudget(9000, 9000, 9000, values=1000), Path("dataset"))
    columns.check_values(1000, Path("r.toml"))
    with pytest.raises(BuildError, match="distinct values take 1,001 bytes"):
        columns.check_values(1001, Path("r.toml"))


@example(1 << 64, [*range(100)], [*range(1000, 1100)], 200)  # rows weigh more than starts
@given(
    st.sampled_from((1, 1 << 32, 1 << 64, (1 << 64) + 1)),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=200, unique=True).map(sorted),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=200, unique=True).map(sorted),
    st.integers(20, 2000),
)
def test_bands_divide_the_space_and_the_work(
    step: int, rows: list[int], starts: list[int], most: int
) -> None:
    """Also at and across multiples of 2**64. Each takes what it may, and one row or start more."""
    weighted = [(Addresses.of(6, [at * step for at in rows]), 7)]
    weighted.append((Addresses.of(6, [at * step for at in starts]), 3))
    divided = bands(6, weighted, most)
    total = 7 * len(rows) + 3 * len(starts)
    assert [len(bands(6, weighted, total - less)) for less in (0, 1)] == [1, 2] or len(rows) < 4
    assert (divided[0].begin, divided[-1].last) == (0, MAX[6])
    assert [band.last + 1 for band in divided[:-1]] == [band.begin for band in divided[1:]]
    for band in divided:
        begin, end = band.begin, band.last + 1
        assert begin < end
        own = [at for at in rows if begin <= at * step < end]
        work = 7 * len(own) + 3 * sum(begin <= at * step < end for at in starts)
        assert work <= most + 10
