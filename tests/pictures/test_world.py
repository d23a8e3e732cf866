"""The cells of the globe, Equal Earth, densities by cell and country; which counts are hidden."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.pictures import CellParts, cover, mark_cells, mark_shown


@given(st.lists(st.integers(0, 12), max_size=8), st.integers(0, 8))
def test_the_sum_of_what_is_hidden_is_nothing_much_or_all(counts: list[int], least: int) -> None:
    array = np.array(counts, np.int64)
    shown = mark_shown(array, least)
    hidden = int(array[~shown].sum())
    assert hidden in (0, sum(counts)) or hidden >= least
    assert all(array[shown] >= least)
    enough = array >= least
    further = enough & ~shown
    assert further.sum() == (0 < array[~enough].sum() < least and enough.any())
    assert all(array[further] == min(array[enough], default=0))


def test_what_is_of_no_count_hides_too() -> None:
    counts = np.array([9, 2])
    assert cover(counts >= 5, counts, 5, beside=3).tolist() == [True, False]
    assert cover(counts >= 5, counts, 5, beside=2).tolist() == [False, False]


@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 9]), min_size=3, max_size=3), min_size=1),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_no_group_has_few_in_hidden_cells(
    table: list[list[int]], beside: list[int], least: int
) -> None:
    counts = np.array(table, float)
    counts = counts[counts.sum(axis=1) > 0]
    cells, groups = np.nonzero(counts)
    parts = CellParts(cells, groups, counts[cells, groups], np.array(beside, float))
    weights = counts.sum(axis=1)
    mask = mark_cells(weights, least, parts)
    assert not (mask & ~mark_shown(weights, least)).any()
    for group in range(3):
        hidden = counts[~mask, group].sum()
        if hidden and counts[mask, group].any():
            assert hidden + beside[group] >= least
    assert weights[~mask].sum() in (0, weights.sum()) or weights[~mask].sum() >= least
