"""Laws of flatten: a gap-free partition, owned as brute force says, whatever the row order."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.internals.builder import (
    ROW,
    Partition,
    Rows,
    duplicates,
    flatten,
    may_decide_beyond,
)
from tests.internals.contract import MAX
from tests.internals.dataset import Addresses

SIZE = 48
#: Family and first address of the small space, and how many addresses one of its steps has.
PLACES = [(4, 0, 1), (4, 8 << 24, 1), (4, MAX[4] - SIZE + 1, 1), (6, 0, 1)]
PLACES += [(6, 0x2A00 << 112, 1), (6, MAX[6] - SIZE + 1, 1), (6, (1 << 64) - SIZE // 2, 1)]
PLACES += [(6, 0x2A00 << 112, 1 << 64), (6, (0x2A00 << 112) + 5, 1 << 64), (6, 9, (1 << 63) + 1)]
PLACES += [(6, MAX[6] + 1 - (SIZE << 64), 1 << 64)]
Place = tuple[int, int, int]
Row = tuple[int, int]
places = st.sampled_from(PLACES)
ends = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
rows = st.lists(ends.map(lambda pair: (min(pair), max(pair))), max_size=30)


def ranges_of(place: Place, listed: list[Row]) -> Rows:
    family, base, step = place
    firsts = [base + first * step for first, _ in listed]
    lasts = [base + (last + 1) * step - 1 for _, last in listed]
    return _ranges(family, firsts, lasts)


def _ranges(family: int, firsts: Sequence[int], lasts: Sequence[int]) -> Rows:
    ends = Addresses.of(family, firsts), Addresses.of(family, lasts)
    return Rows(*ends, np.arange(len(firsts), dtype=np.uint32))


def owners_at(intervals: Partition, addresses: Iterable[int]) -> list[int]:
    asked = Addresses.of(intervals.starts.family, list(addresses))
    rows = intervals.numbers[ROW][intervals.starts.search(asked) - 1]
    owned: list[int] = (rows - 1).tolist()
    return owned


def owners(intervals: Partition, place: Place) -> list[int]:
    """The owner of each step; its first and its last address have the same."""
    _, base, step = place
    firsts = owners_at(intervals, range(base, base + SIZE * step, step))
    assert owners_at(intervals, range(base + step - 1, base + SIZE * step, step)) == firsts
    return firsts


def brute_force(listed: list[Row], offset: int) -> int:
    """The owner of an address: smaller range, later start, later row; -1 for none."""
    covering = [
        (first - last, first, number)
        for number, (first, last) in enumerate(listed)
        if first <= offset <= last
    ]
    return max(covering)[2] if covering else -1


@given(places, rows, st.randoms(use_true_random=False))
@example((4, 8 << 24, 1), [(10, 20), (0, 5)], random.Random(1))  # out of order
@example((6, 0x2A00 << 112, 1 << 64), [(0, 0), (2, 3), (4, 4)], random.Random(1))  # only high
@example((6, 0x2A00 << 112, 1 << 64), [(0, 9), (2, 3), (4, 4)], random.Random(1))
@example((4, MAX[4] - SIZE + 1, 1), [(0, SIZE - 1), (3, SIZE - 1)], random.Random(1))
def test_the_laws_of_flatten(place: Place, listed: list[Row], rng: random.Random) -> None:
    family, base, step = place
    intervals = flatten(ranges_of(place, listed), family)
    owned = owners(intervals, place)
    assert owned == [brute_force(listed, at) for at in range(SIZE)]
    _partition(intervals, family)
    # Nothing outside of the rows has an owner.
    outside = [
        at
        for at in (0, base - 1, base + SIZE * step, MAX[family])
        if 0 <= at <= MAX[family] and not base <= at < base + SIZE * step
    ]
    assert set(owners_at(intervals, outside)) <= {-1}
    # The order of rows matters only among equal ranges.
    shuffled = rng.sample(listed, len(listed))
    other = owners(flatten(ranges_of(place, shuffled), family), place)
    for one, another in zip(owned, other, strict=True):
        assert (one < 0 and another < 0) or listed[one] == shuffled[another]
    of_intervals = intervals.numbers[ROW]
    assert not (of_intervals[1:] == of_intervals[:-1]).any()
    for some in (listed, [*listed, (0, 5), (0, 9), (0, 5)]):
        assert duplicates(ranges_of(place, some)) == len(some) - len(set(some))


def _partition(intervals: Partition, family: int) -> None:
    starts = intervals.starts
    values = [starts.item(at) for at in range(len(starts))]
    assert values[0] == 0
    assert values == sorted(set(values))
    assert starts.family == family


@given(st.sampled_from((4, 6)), st.integers(1, 300))
def test_deep_nesting(family: int, depth: int) -> None:
    """Rows around one another, as many as the levels of the algorithm allow for."""
    first, last = MAX[family] // 2 - depth, MAX[family] // 2 + depth
    nest = [(first + step, last - step) for step in range(depth)]
    firsts, lasts = zip(*nest, strict=True)
    intervals = flatten(_ranges(family, firsts, lasts), family)
    assert owners_at(intervals, range(first, first + depth)) == list(range(depth))
    assert owners_at(intervals, range(last, last - depth, -1)) == list(range(depth))


@given(st.sampled_from((4, 6)))
def test_a_range_may_be_the_whole_space(family: int) -> None:
    intervals = flatten(_ranges(family, [0], [MAX[family]]), family)
    assert (intervals.starts.item(0), intervals.numbers[ROW].tolist()) == (0, [1])


def test_a_size_of_more_than_64_bits_is_compared_as_a_whole() -> None:
    ranges = _ranges(6, [0, 1 << 63], [(1 << 64) + 5, (1 << 63) + 99])
    intervals = flatten(ranges, 6)
    assert owners_at(intervals, [0, 1 << 63, (1 << 63) + 99, (1 << 63) + 100]) == [0, 1, 1, 0]


@given(places, st.lists(ends.map(sorted).map(tuple), min_size=1, max_size=12), st.data())
def test_rows_that_may_decide_after_a_band(
    place: Place, listed: list[Row], data: st.DataObject
) -> None:
    """Of rows that all cover an address: those that decide later, and no more."""
    at = data.draw(st.integers(0, SIZE - 1))
    covering = [(min(first, at), max(last, at)) for first, last in listed]
    decide = {brute_force(covering, later) for later in range(at, SIZE)} - {-1}
    assert may_decide_beyond(ranges_of(place, covering)).tolist() == sorted(decide)
