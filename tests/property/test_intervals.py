"""Address intervals against plain integers, for both families, at every carry and boundary."""

from __future__ import annotations

from bisect import bisect_right
from itertools import product
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.contract import MAX
from tests.internals.dataset import (
    UNIT_ADDRESSES,
    Addresses,
    EncodedColumn,
    File,
    Starts,
    clamp,
    concat,
    count_addresses,
    cut_at,
    empty,
    is_partition,
    join_intervals,
    jump_table,
    lasts,
    sizes,
)

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


@st.composite
def partitions(draw: st.DrawFn, family: int) -> list[int]:
    """Starts close to each other, at the carries, and anywhere; the first is 0."""
    near = st.integers(0, 6) | st.integers(MAX[family] - 3, MAX[family])
    return sorted({0, *draw(st.sets(near | addresses(family), max_size=12))})


def values(held: Addresses) -> list[int]:
    return [held.item(at) for at in range(len(held))]


def ends(family: int, starts: list[int]) -> list[int]:
    return [*(start - 1 for start in starts[1:]), MAX[family]]


@given(drawn, st.data())
def test_columns_of_addresses(given_: tuple[int, list[int]], data: st.DataObject) -> None:
    family, others = given_
    listed = [*_EDGES[family], *others]  # each carry and boundary in each run
    result = Addresses.of(family, listed)
    assert values(result) == listed
    assert (result.family, len(result)) == (family, len(listed))
    assert values(result[result.order()]) == sorted(listed)
    assert result.total() == sum(listed)
    assert result.is_last().tolist() == [entry == MAX[family] for entry in listed]
    below = [entry for entry in listed if entry < MAX[family]]
    assert values(Addresses.of(family, below).successor()) == [item + 1 for item in below]
    least, most = sorted(data.draw(st.tuples(addresses(family), addresses(family))))
    assert values(clamp(result, least, most)) == [min(max(v, least), most) for v in listed]
    assert values(concat([empty(family), result, result])) == listed + listed


@given(st.lists(st.sampled_from(_EDGES[6]), min_size=1))
def test_order_is_stable(listed: list[int]) -> None:
    order = Addresses.of(6, listed).order().tolist()
    assert order == sorted(range(len(listed)), key=listed.__getitem__)


@given(pairs)
def test_comparisons_differences_and_search(given_: tuple[int, list[tuple[int, int]]]) -> None:
    family, others = given_
    listed = [*product(_EDGES[family], repeat=2), *others]
    one, other = (Addresses.of(family, [pair[at] for pair in listed]) for at in (0, 1))
    assert (one < other).tolist() == [a < b for a, b in listed]
    assert one.equals(other).tolist() == [a == b for a, b in listed]
    greater, less = (Addresses.of(family, [pick(pair) for pair in listed]) for pick in (max, min))
    assert values(greater.minus(less)) == [abs(a - b) for a, b in listed]
    among = sorted({a for a, _ in listed})
    sought = [b for _, b in listed] + among
    counted = Addresses.of(family, among).search(Addresses.of(family, sought))
    assert counted.tolist() == [sum(a <= item for a in among) for item in sought]


@pytest.mark.parametrize("family", [4, 6])
def test_a_sum_passes_every_limb_and_ipv4_takes_32_bits(family: int) -> None:
    assert Addresses.of(family, [MAX[family]] * 70_000).total() == MAX[family] * 70_000
    assert Addresses.of(family, [1]).low.dtype == (np.uint32 if family == 4 else np.uint64)


@given(families.flatmap(lambda f: st.tuples(st.just(f), st.lists(partitions(f), min_size=1))))
def test_overlay(given_: tuple[int, list[list[int]]]) -> None:
    family, listed = given_
    joint, holding = join_intervals([Addresses.of(family, entry) for entry in listed])
    starts = values(joint)
    assert starts == sorted(set().union(*listed))
    for partition, rows in zip(listed, holding, strict=True):
        assert rows.tolist() == [bisect_right(partition, start) - 1 for start in starts]
    assert is_partition(joint)


one_partition = families.flatmap(lambda f: st.tuples(st.just(f), partitions(f)))


@given(one_partition, st.data())
def test_sizes_are_counted_exactly(given_: tuple[int, list[int]], data: st.DataObject) -> None:
    family, starts = given_
    selection = data.draw(st.lists(st.booleans(), min_size=len(starts), max_size=len(starts)))
    bounds = zip(starts, ends(family, starts), strict=True)
    expected = [last - first + 1 for first, last in bounds]
    result = Addresses.of(family, starts)
    counted = sum(size for size, use in zip(expected, selection, strict=True) if use)
    assert count_addresses(result, np.array(selection)) == counted
    assert values(lasts(result)) == ends(family, starts)
    if family == 4:
        assert sizes(result).tolist() == expected
        assert UNIT_ADDRESSES[4] == 1
    elif len(starts) > 1:  # networks of 64 bits
        of_64 = [size / (1 << 64) for size in expected]
        assert sizes(result).tolist() == pytest.approx(of_64, rel=1e-15)
        assert (sizes(result) * UNIT_ADDRESSES[6]).tolist() == pytest.approx(expected, rel=1e-15)


@given(one_partition, st.data())
def test_cut_at_marks_what_lies_in_a_range(
    given_: tuple[int, list[int]], data: st.DataObject
) -> None:
    family, starts = given_
    every = list(zip(starts, ends(family, starts), strict=True))
    ranges = data.draw(st.lists(st.sampled_from(every), unique=True).map(sorted))
    actual, within = cut_at(family, ranges)
    assert is_partition(actual)
    assert len(actual) == len(within)
    for value in {*starts, *ends(family, starts)}:
        row = int(actual.search(Addresses.of(family, [value]))[0]) - 1
        assert within[row] == any(first <= value <= last for first, last in ranges)


def test_what_is_no_partition_is_seen() -> None:
    for family in (4, 6):
        for starts in ([], [1], [0, 2, 2], [0, 3, 2], [0, 1 << 31, 1]):
            assert not is_partition(Addresses.of(family, starts))
    assert not is_partition(Addresses.of(6, [0, 2 << 64, 1 << 64 | 5]))
    assert is_partition(Addresses.of(6, [0, 1 << 64 | 5, 2 << 64]))


class _Columns:
    """Starts as the columns of a file: for IPv6 the lower halves are a dictionary."""

    path = "some.arrow"

    def __init__(self, family: int, starts: list[int]) -> None:
        self._starts = Addresses.of(family, starts)

    def view(self, column: str, _kind: str) -> memoryview:
        half = self._starts.high if column == "start_high" else self._starts.low
        return np.asarray(half).data

    def encoded_column(self, _column: str, _kind: str) -> EncodedColumn:
        values, indices = np.unique(self._starts.low, return_inverse=True)
        return EncodedColumn(indices.astype(np.uint8).data, values.data)


@given(one_partition, st.data())
def test_one_address_at_a_time(given_: tuple[int, list[int]], data: st.DataObject) -> None:
    family, listed = given_
    starts = Starts(cast("File", _Columns(family, listed)), family)
    assert [starts[row] for row in range(len(starts))] == listed
    both = [*zip(listed, ends(family, listed), strict=True)]
    assert [starts.ends(row) for row in range(len(starts))] == both
    begin = data.draw(st.integers(0, len(listed)))
    end = data.draw(st.integers(begin, len(listed)))
    for value in {*listed, *ends(family, listed), data.draw(addresses(family))}:
        assert starts.holding(value) == bisect_right(listed, value) - 1
        assert starts.holding(value, begin, end) == bisect_right(listed, value, begin, end) - 1


def test_jump_table() -> None:
    """Entry b is the interval that the first address of bucket b lies in; one more is the last."""
    for count in (1, 2, 255, 256, 257, 5000, 70_000):
        rng = np.random.default_rng(count)
        starts = np.unique(np.append(rng.integers(0, 1 << 32, count - 1, np.uint32), np.uint32(0)))
        result = jump_table(starts)
        bits = min(max(len(starts).bit_length() - 3, 8), 20)
        assert len(result) == (1 << bits) + 1
        assert result[-1] == len(starts) - 1
        for bucket in rng.integers(0, 1 << bits, 300).tolist():
            first, last = bucket << 32 - bits, (bucket + 1 << 32 - bits) - 1
            for address in (first, last, int(rng.integers(first, last + 1))):
                interval = int((starts <= address).sum()) - 1
                assert result[bucket] <= interval <= result[bucket + 1]
            assert result[bucket] == int((starts <= first).sum()) - 1
