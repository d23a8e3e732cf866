"""Which counts are hidden: a reader who subtracts what is shown finds no small group."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures.hidden import covered, not_hidden


@given(st.lists(st.integers(0, 12), max_size=8), st.integers(0, 8))
def test_the_sum_of_what_is_hidden_is_nothing_much_or_all(counts: list[int], least: int) -> None:
    array = np.array(counts, np.int64)
    shown = not_hidden(array, least)
    hidden = int(array[~shown].sum())
    assert hidden in (0, sum(counts)) or hidden >= least
    assert all(array[shown] >= least)
    enough = array >= least
    further = enough & ~shown
    assert further.sum() == (0 < array[~enough].sum() < least and enough.any())
    assert all(array[further] == min(array[enough], default=0))


def test_the_last_of_equal_counts_is_hidden() -> None:
    assert not_hidden(np.array([5, 7, 5, 4, 9]), 5).tolist() == [True, True, False, False, True]


def test_what_is_of_no_count_hides_too() -> None:
    counts = np.array([9, 2])
    assert covered(counts >= 5, counts, 5, beside=3).tolist() == [True, False]
    assert covered(counts >= 5, counts, 5, beside=2).tolist() == [False, False]
