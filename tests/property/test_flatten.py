"""Laws of flatten: a gap-free partition, owned as brute force says, whatever the row order.

Strategy: ranges in a space of some dozens of addresses, placed at the beginning, across the
64-bit boundary and at the end of either family, so that every address can be asked in turn.
"""

from __future__ import annotations

import random

import numpy as np
from geolookup_builder.flatten import Intervals, Ranges, coalesce, duplicates, flatten
from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import MAX
from geolookup.dataset.intervals import Addresses

SIZE = 48
#: Family and first address of the small space.
PLACES = [(4, 0), (4, 8 << 24), (4, MAX[4] - SIZE + 1)]
PLACES += [(6, 0), (6, (1 << 64) - SIZE // 2), (6, 0x2A00 << 112), (6, MAX[6] - SIZE + 1)]
Row = tuple[int, int]
places = st.sampled_from(PLACES)
ends = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
rows = st.lists(ends.map(lambda pair: (min(pair), max(pair))), max_size=30)


def ranges_of(place: tuple[int, int], listed: list[Row]) -> Ranges:
    family, base = place
    firsts, lasts = [base + first for first, _ in listed], [base + last for _, last in listed]
    return Ranges(Addresses.of(family, firsts), Addresses.of(family, lasts))


def owner_at(intervals: Intervals, address: int) -> int:
    family = intervals.starts.family
    return int(intervals.owner[intervals.starts.search(Addresses.of(family, [address]))[0] - 1])


def owners(intervals: Intervals, base: int) -> list[int]:
    return [owner_at(intervals, base + offset) for offset in range(SIZE)]


def brute_force(listed: list[Row], offset: int) -> int:
    """The owner of an address: smaller range, later start, later row; -1 for none."""
    covering = [
        (first - last, first, number)
        for number, (first, last) in enumerate(listed)
        if first <= offset <= last
    ]
    return max(covering)[2] if covering else -1


@given(places, rows)
def test_owner_equals_brute_force(place: tuple[int, int], listed: list[Row]) -> None:
    intervals = flatten(ranges_of(place, listed), place[0])
    assert owners(intervals, place[1]) == [brute_force(listed, at) for at in range(SIZE)]


@given(places, rows)
def test_partition_starts_at_zero_and_ascends(place: tuple[int, int], listed: list[Row]) -> None:
    starts = flatten(ranges_of(place, listed), place[0]).starts
    values = [starts.item(at) for at in range(len(starts))]
    assert values[0] == 0
    assert values == sorted(set(values))
    assert starts.family == place[0]


@given(places, rows)
def test_coverage_is_the_union_and_nothing_outside(
    place: tuple[int, int], listed: list[Row]
) -> None:
    family, base = place
    intervals = flatten(ranges_of(place, listed), family)
    union = {offset for first, last in listed for offset in range(first, last + 1)}
    assert {at for at, owner in enumerate(owners(intervals, base)) if owner >= 0} == union
    outside = {0, base - 1, base + SIZE, MAX[family]} - set(range(base, base + SIZE))
    assert {owner_at(intervals, at) for at in outside if 0 <= at <= MAX[family]} <= {-1}


@given(places, rows, st.randoms(use_true_random=False))
def test_row_order_matters_only_among_equal_ranges(
    place: tuple[int, int], listed: list[Row], rng: random.Random
) -> None:
    shuffled = rng.sample(listed, len(listed))
    one, other = (flatten(ranges_of(place, each), place[0]) for each in (listed, shuffled))
    ranges = [
        [each[owner] if owner >= 0 else None for owner in owners(intervals, place[1])]
        for intervals, each in ((one, listed), (other, shuffled))
    ]
    assert ranges[0] == ranges[1]


@given(places, rows)
def test_neighbours_differ_and_coalesce_is_idempotent(
    place: tuple[int, int], listed: list[Row]
) -> None:
    intervals = flatten(ranges_of(place, listed), place[0])
    once = coalesce(intervals)
    assert not (once.owner[1:] == once.owner[:-1]).any()
    twice = coalesce(once)
    assert np.array_equal(twice.owner, once.owner)
    assert bool(twice.starts.equals(once.starts).all())
    assert owners(once, place[1]) == owners(intervals, place[1])


@given(places, rows)
def test_duplicates_are_rows_with_an_equal_later_one(
    place: tuple[int, int], listed: list[Row]
) -> None:
    assert duplicates(ranges_of(place, listed)) == len(listed) - len(set(listed))


@given(places, st.integers(1, 300))
def test_deep_nesting(place: tuple[int, int], depth: int) -> None:
    """Rows around one another, as many as the levels of the algorithm allow for."""
    family, _ = place
    first, last = MAX[family] // 2 - depth, MAX[family] // 2 + depth
    nest = [(first + step, last - step) for step in range(depth)]
    firsts, lasts = zip(*nest, strict=True)
    intervals = flatten(Ranges(Addresses.of(family, firsts), Addresses.of(family, lasts)), family)
    assert [owner_at(intervals, first + step) for step in range(depth)] == list(range(depth))
    assert [owner_at(intervals, last - step) for step in range(depth)] == list(range(depth))
