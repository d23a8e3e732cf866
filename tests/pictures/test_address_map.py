"""The joint partition of several views against each view, cell by cell."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from geolookup.dataset.intervals import Addresses
from geolookup.pictures.address_map import AddressMap, address_map
from geolookup.pictures.views import View, view_of
from tests.pictures.random_views import starts_in, value_at, views


def _check(shown: AddressMap, listed: list[View], cells: set[int]) -> None:
    starts = shown.starts
    assert starts[0] == 0
    assert np.all(starts[:-1] < starts[1:])
    for cell in sorted(each for each in cells if 0 <= each < shown.space.filled):
        at = int(np.searchsorted(starts, np.uint64(cell), side="right")) - 1
        expected = [value_at(view, shown.space.first_address(cell)) for view in listed]
        assert [int(values[at]) for values in shown.values] == expected
    rows = list(zip(*(values.tolist() for values in shown.values), strict=True))
    assert all(one != next_one for one, next_one in itertools.pairwise(rows))


def _near(shown: AddressMap, listed: list[View]) -> set[int]:
    """The cells at the starts of all intervals and blocks, and around them."""
    found = {shown.space.cell(each) or 0 for view in listed for each in starts_in(view)}
    found |= {number * shown.space.cells_per_block for number in range(len(shown.space.blocks))}
    return {cell + step for cell in found for step in (-1, 0, 1)}


@given(views, st.data())
def test_a_cell_shows_each_view_at_its_first_address(
    listed: list[View], data: st.DataObject
) -> None:
    shown = address_map(listed)
    assume(shown.space.blocks)
    _check(shown, listed, _near(shown, listed))
    steps = data.draw(st.integers(0, shown.space.block_order))
    coarse = shown.coarser(steps)
    assert coarse.space.cell_bits == shown.space.cell_bits + 2 * steps
    _check(coarse, listed, _near(coarse, listed))


def test_views_of_both_families_are_refused() -> None:
    listed = [
        view_of("v", "V", "", Addresses.of(family, [0]), np.array([2], np.uint32), ["A"])
        for family in (4, 6)
    ]
    with pytest.raises(ValueError, match="both families"):
        address_map(listed)
