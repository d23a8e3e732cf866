"""Combinations summed, against a counter."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geolookup.comparison.weighted import distinct

_numbers = st.integers(0, 2) | st.sampled_from([0xFFFF_FFFF, 0xFFFF_FFFE])


@given(st.lists(st.tuples(_numbers, _numbers, _numbers, st.integers(1, 9))))
def test_distinct(rows: list[tuple[int, int, int, int]]) -> None:
    columns = [np.array([row[at] for row in rows], np.uint32) for at in range(3)]
    found = distinct(columns, np.array([row[3] for row in rows], np.float64))
    expected: Counter[tuple[int, ...]] = Counter()
    for row in rows:
        expected[row[:3]] += row[3]
    combinations = list(zip(*(column.tolist() for column in found.columns), strict=True))
    assert dict(zip(combinations, found.weight.tolist(), strict=True)) == expected
    assert [combinations[at] for at in found.of_row] == [row[:3] for row in rows]
