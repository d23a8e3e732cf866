"""Partitions laid over each other, and sizes, against plain integers."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.comparison.partitions import Starts, overlaid, sizes, starts_of

_BITS = {4: 32, 6: 128}


def _starts(family: int) -> st.SearchStrategy[list[int]]:
    most = (1 << _BITS[family]) - 1
    half = st.sampled_from((0, 1, (1 << 64) - 1, 1 << 63))
    numbers = st.integers(0, 6) | st.integers(0, most) | st.integers(most - 3, most)
    if family == 6:
        numbers |= st.builds(lambda high, low: high << 64 | low, half, half)
    return st.sets(numbers, max_size=12).map(lambda found: sorted({0, *found}))


def _numbers(starts: Starts) -> list[int]:
    lows = [int(low) for low in starts.lows]
    if starts.highs is None:
        return lows
    return [int(high) << 64 | low for high, low in zip(starts.highs, lows, strict=True)]


@given(
    st.sampled_from((4, 6)).flatmap(
        lambda f: st.tuples(st.just(f), st.lists(_starts(f), min_size=1, max_size=4))
    )
)
def test_overlaid(given_: tuple[int, list[list[int]]]) -> None:
    family, partitions = given_
    joint, holding = overlaid([starts_of(family, each) for each in partitions])
    starts = _numbers(joint)
    assert starts == sorted(set().union(*partitions))
    for partition, rows in zip(partitions, holding, strict=True):
        assert rows.tolist() == [bisect_right(partition, start) - 1 for start in starts]
    assert joint.ascending()


@given(_starts(4))
def test_ipv4_sizes_are_addresses(numbers: list[int]) -> None:
    ends = [*numbers[1:], 1 << 32]
    expected = [end - start for start, end in zip(numbers, ends, strict=True)]
    assert sizes(starts_of(4, numbers)).tolist() == expected


@given(_starts(6).filter(lambda numbers: len(numbers) > 1))
def test_ipv6_sizes_are_networks_of_64(numbers: list[int]) -> None:
    ends = [*numbers[1:], 1 << 128]
    expected = [(end - start) / (1 << 64) for start, end in zip(numbers, ends, strict=True)]
    assert sizes(starts_of(6, numbers)).tolist() == pytest.approx(expected, rel=1e-15)


def test_what_is_out_of_order_is_seen() -> None:
    for family in (4, 6):
        for numbers in ([1], [0, 2, 2], [0, 3, 2], [0, 1 << 31, 1]):
            assert not starts_of(family, numbers).ascending()
    assert not starts_of(6, [0, 2 << 64, 1 << 64 | 5]).ascending()
    assert starts_of(6, [0, 1 << 64 | 5, 2 << 64]).ascending()
