"""The Hilbert curve against its definition, drawn by recursion, and against its inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures import hilbert


def _drawn(order: int) -> list[tuple[int, int]]:
    """The curve by its definition: four smaller ones, the first and last of them turned."""
    if order == 0:
        return [(0, 0)]
    smaller, half = _drawn(order - 1), 1 << order - 1
    return [
        *((y, x) for x, y in smaller),
        *((x, y + half) for x, y in smaller),
        *((x + half, y + half) for x, y in smaller),
        *((2 * half - 1 - y, half - 1 - x) for x, y in smaller),
    ]


def test_the_curve_is_that_of_the_definition() -> None:
    for order in range(7):
        x, y = hilbert.points(np.arange(4**order, dtype=np.uint64), order)
        assert list(zip(x.tolist(), y.tolist(), strict=True)) == _drawn(order)


@given(st.integers(0, 32).flatmap(
    lambda order: st.tuples(st.just(order), st.lists(st.integers(0, 4**order - 1), max_size=9))
))  # fmt: skip
def test_the_inverse_returns_the_cells(drawn: tuple[int, list[int]]) -> None:
    order, numbers = drawn
    cells = np.array(numbers, np.uint64)
    assert hilbert.cells(*hilbert.points(cells, order), order).tolist() == numbers


@pytest.mark.parametrize(("order", "cell"), [(-1, 0), (33, 0), (2, 16)])
def test_what_lies_outside_is_refused(order: int, cell: int) -> None:
    with pytest.raises(ValueError, match="order"):
        hilbert.points(np.array([cell], np.uint64), order)
    with pytest.raises(ValueError, match="order"):
        hilbert.cells(np.array([4], np.uint64), np.array([0], np.uint64), 2 if cell else order)


def test_values_along_the_curve_are_a_square() -> None:
    for order in range(6):
        along = np.arange(4**order, dtype=np.uint32)
        square = hilbert.square(along)
        x, y = hilbert.points(along.astype(np.uint64), order)
        assert square[y, x].tolist() == along.tolist()
    with pytest.raises(ValueError, match="square"):
        hilbert.square(np.zeros(8))
