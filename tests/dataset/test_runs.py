"""Runs of equal neighbours; rows are numbered as they appear, whatever their widths and hashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.internals.dataset import Addresses, distinct, factorize, join_runs, run_starts, runs

#: Two keys of 64 bits, which are mixed.
COLUMNS: list[NDArray[Any]] = [
    np.array([1, 2, 1, 2, 1 << 62], np.int64),
    np.array([0, 0, 0, 9, 9], np.uint8),
]
NUMBERS = [0, 1, 0, 2, 3]
KINDS = (np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float64)
#: Rows of three columns with few values each, so that neighbours are often equal.
ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 3))


@given(rows=ROWS, kinds=st.tuples(*[st.sampled_from(KINDS)] * 3))
def test_a_run_starts_where_a_column_differs(
    rows: list[tuple[int, ...]], kinds: tuple[type[Any], ...]
) -> None:
    columns = [np.array([row[at] for row in rows]).astype(kind) for at, kind in enumerate(kinds)]
    listed = list(zip(*(column.tolist() for column in columns), strict=True))
    expected = [not at or row != listed[at - 1] for at, row in enumerate(listed)]
    for column in columns:
        if column.dtype == np.float64:
            column[column == 0] = np.nan  # NaN equals NaN
    assert run_starts(*columns).tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 3])
def test_rows_without_columns_are_equal(size: int) -> None:
    assert run_starts(size=size).tolist() == [True, False, False][:size]
    result = distinct([], np.full(size, 2.0))
    assert (result.of_row.tolist(), result.weight.sum()) == ([0] * size, size * 2)
    assert len(result.weight) == min(size, 1)


@given(rows=ROWS.filter(bool))
def test_equal_neighbours_of_a_partition_are_joined(rows: list[tuple[int, ...]]) -> None:
    values = [np.array([row[at] for row in rows], np.int32) for at in range(2)]
    columns = {"a": values[0], "b": values[1], "c": values[0]}
    starts, joined = join_runs(Addresses.of(4, range(len(rows))), columns)
    # A row of the result counts until the next one starts.
    of_row = np.searchsorted(starts.low, np.arange(len(rows)), side="right") - 1
    assert all((joined[name][of_row] == columns[name]).all() for name in columns)
    assert run_starts(*joined.values()).all()
    assert joined["a"] is joined["c"]


@given(rows=ROWS, weighted=st.booleans())
def test_distinct_rows_have_the_summed_weight(rows: list[tuple[int, ...]], weighted: bool) -> None:
    columns = [np.array([row[at] for row in rows], np.int64) for at in range(3)]
    weight = np.arange(len(rows)) / 2 if weighted else np.ones(len(rows))
    sums = dict.fromkeys(rows, 0.0)
    for row, size in zip(rows, weight.tolist(), strict=True):
        sums[row] += size
    result = distinct(columns, weight if weighted else None)
    combinations = zip(*(column.tolist() for column in result.columns), strict=True)
    assert dict(zip(combinations, result.weight.tolist(), strict=True)) == sums
    assert result.of_row.tolist() == [[*sums].index(row) for row in rows]


def test_collisions_are_found_or_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    mix, attempts = runs.mix, list[int]()

    def colliding(columns: Sequence[NDArray[Any]], attempt: int) -> NDArray[np.uint64]:
        attempts.append(attempt)
        return mix(columns, attempt) % np.uint64(2 if attempt < 3 else 1 << 63)

    monkeypatch.setattr(runs, "mix", colliding)
    codes, first = factorize(COLUMNS)
    assert codes.tolist() == NUMBERS
    assert first.tolist() == [0, 1, 3, 4]
    assert attempts == [0, 1, 2, 3]
    monkeypatch.setattr(runs, "mix", lambda columns, _: np.zeros(len(columns[0]), np.uint64))
    with pytest.raises(AssertionError, match="64 different hashes collided"):
        factorize(COLUMNS)


def test_every_width() -> None:
    for kind in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64):
        bounds = np.iinfo(kind)
        column = np.array([bounds.max, bounds.min, bounds.max, 1], kind)
        assert factorize([column])[0].tolist() == [0, 1, 0, 2], kind
    assert factorize([np.zeros(3, np.int8)])[0].tolist() == [0, 0, 0]
    ends = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1]
    column = np.array(ends, np.uint64)
    assert factorize([column, column])[0].tolist() == [0, 1, 2, 3, 4, 1]


@given(rows=st.lists(st.tuples(*[st.integers(-3, 3)] * 3)))
def test_tuples_are_numbered_as_they_appear(rows: list[tuple[int, ...]]) -> None:
    """Values of few bits are an index, of 64 bits or less one key, of more several."""
    for width, wide in ((1, 1), (3, 1), (3, 1 << 30), (3, 1 << 40), (3, 1 << 61)):
        columns = [np.array([row[at] for row in rows], np.int64) * wide for at in range(width)]
        firsts = [row[:width] for row in rows]
        listed = list(dict.fromkeys(firsts))
        codes, first = factorize(columns)
        assert codes.tolist() == [listed.index(row) for row in firsts]
        assert first.tolist() == [firsts.index(row) for row in listed]
        assert codes.dtype == np.int32
