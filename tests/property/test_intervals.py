"""Points do what Python's integers do, for both families, at every carry and boundary."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Points, clamp, concat, empty

_EDGES = {
    4: [0, 1, (1 << 31) - 1, 1 << 31, MAX[4] - 1, MAX[4]],
    6: [0, 1, (1 << 64) - 1, 1 << 64, (1 << 64) + 1, 1 << 127, MAX[6] - 1, MAX[6]],
}
families = st.sampled_from((4, 6))


def addresses(family: int) -> st.SearchStrategy[int]:
    return st.sampled_from(_EDGES[family]) | st.integers(0, MAX[family])


drawn = families.flatmap(lambda family: st.tuples(st.just(family), st.lists(addresses(family))))
pairs = families.flatmap(
    lambda family: st.tuples(
        st.just(family), st.lists(st.tuples(addresses(family), addresses(family)))
    )
)


def values(points: Points) -> list[int]:
    return [points.item(at) for at in range(len(points))]


@given(drawn)
def test_items_order_and_total(given_: tuple[int, list[int]]) -> None:
    family, listed = given_
    points = Points.of(family, listed)
    assert values(points) == listed
    assert (points.family, points.maximum, len(points)) == (family, MAX[family], len(listed))
    assert values(points[points.order()]) == sorted(listed)
    assert points.total() == sum(listed)
    assert points.is_last().tolist() == [each == MAX[family] for each in listed]


@given(st.lists(st.sampled_from(_EDGES[6]), min_size=1))
def test_order_is_stable(listed: list[int]) -> None:
    order = Points.of(6, listed).order().tolist()
    assert order == sorted(range(len(listed)), key=listed.__getitem__)


@given(pairs)
def test_comparisons_and_differences(given_: tuple[int, list[tuple[int, int]]]) -> None:
    family, listed = given_
    one, other = (Points.of(family, [pair[at] for pair in listed]) for at in (0, 1))
    assert (one < other).tolist() == [a < b for a, b in listed]
    assert one.equals(other).tolist() == [a == b for a, b in listed]
    greater, less = (Points.of(family, [pick(pair) for pair in listed]) for pick in (max, min))
    assert values(greater.minus(less)) == [abs(a - b) for a, b in listed]


@given(drawn)
def test_neighbours(given_: tuple[int, list[int]]) -> None:
    family, listed = given_
    below = [each for each in listed if each < MAX[family]]
    assert values(Points.of(family, below).successor()) == [each + 1 for each in below]
    above = [each for each in listed if each > 0]
    assert values(Points.of(family, above).predecessor()) == [each - 1 for each in above]


@given(pairs)
def test_search_counts_what_is_not_greater(given_: tuple[int, list[tuple[int, int]]]) -> None:
    family, listed = given_
    among = sorted({a for a, _ in listed})
    sought = [b for _, b in listed] + among
    counted = Points.of(family, among).search(Points.of(family, sought))
    assert counted.tolist() == [sum(a <= each for a in among) for each in sought]


@given(drawn, st.data())
def test_clamp_and_concat(given_: tuple[int, list[int]], data: st.DataObject) -> None:
    family, listed = given_
    least, most = sorted(data.draw(st.tuples(addresses(family), addresses(family))))
    points = Points.of(family, listed)
    assert values(clamp(points, least, most)) == [min(max(v, least), most) for v in listed]
    assert values(concat([empty(family), points, points])) == listed + listed


@pytest.mark.parametrize("family", [4, 6])
def test_a_sum_that_passes_every_limb(family: int) -> None:
    points = Points.of(family, [MAX[family]] * 70_000)
    assert points.total() == MAX[family] * 70_000


@pytest.mark.parametrize("family", [4, 6])
def test_edges_are_told_apart(family: int) -> None:
    for one, other in pairwise(_EDGES[family]):
        left, right = Points.of(family, [one]), Points.of(family, [other])
        assert np.array_equal(left < right, [True])
        assert np.array_equal(right < left, [False])
