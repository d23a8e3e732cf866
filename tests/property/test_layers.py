"""Laying sources over one another, hiding space, numbering rows: against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tests.internals.builder import ROW, Partition, hide, nothing, of_rows, underlay
from tests.internals.contract import MAX
from tests.internals.dataset import Addresses

SIZE = 24
LAYERS = ("location", "isp")
families = st.sampled_from((4, 6))
#: Starts of a partition, each with a number a layer.
partitions = st.dictionaries(
    st.integers(1, SIZE), st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8
).flatmap(
    lambda later: st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda n: {0: n} | later)
)


def layered(
    family: int, partition: dict[int, tuple[int, int]], names: tuple[str, ...]
) -> Partition:
    starts = sorted(partition)
    numbers = {
        name: np.array([partition[start][at] for start in starts], np.int32)
        for at, name in enumerate(LAYERS)
        if name in names
    }
    return Partition(Addresses.of(family, starts), numbers)


def at(partition: dict[int, tuple[int, int]], address: int) -> tuple[int, int]:
    return partition[max(start for start in partition if start <= address)]


def index_at(starts: Addresses, address: int) -> int:
    return int(starts.search(Addresses.of(starts.family, [address]))[0]) - 1


@example(4, {0: (0, 0), 5: (1, 2)}, {0: (3, 3)}, LAYERS)
@given(families, partitions, partitions, st.sampled_from((LAYERS, LAYERS[:1], ())))
def test_underlay_fills_what_is_not_known(
    family: int,
    base: dict[int, tuple[int, int]],
    below: dict[int, tuple[int, int]],
    names: tuple[str, ...],
) -> None:
    merged = underlay(layered(family, base, LAYERS), layered(family, below, names))
    for address in range(SIZE + 2):
        row = index_at(merged.starts, address)
        for number, name in enumerate(LAYERS):
            lower = at(below, address)[number] if name in names else 0
            assert merged.numbers[name][row] == (at(base, address)[number] or lower)
    columns = np.array([merged.numbers[name] for name in LAYERS])
    assert (columns[:, 1:] != columns[:, :-1]).any(axis=0).all()


@given(families, partitions)
def test_nothing_is_neutral(family: int, base: dict[int, tuple[int, int]]) -> None:
    over = underlay(layered(family, base, LAYERS), nothing(family, LAYERS))
    under = underlay(nothing(family, LAYERS), layered(family, base, LAYERS))
    assert bool(over.starts.equals(under.starts).all())
    assert all(np.array_equal(over.numbers[name], under.numbers[name]) for name in LAYERS)


@given(families, partitions, st.sets(st.integers(0, SIZE)), st.booleans())
def test_hidden_space_knows_nothing(
    family: int, partition: dict[int, tuple[int, int]], hidden: set[int], to_the_end: bool
) -> None:
    ranges = _ranges(hidden)
    if to_the_end:
        ranges.append((MAX[family] - 5, MAX[family]))
    result = hide(layered(family, partition, LAYERS), tuple(ranges))
    for address in (*range(SIZE + 2), MAX[family] - 6, MAX[family] - 5, MAX[family]):
        covered = any(first <= address <= last for first, last in ranges)
        expected = (0, 0) if covered else at(partition, address)
        row = index_at(result.starts, address)
        assert tuple(result.numbers[name][row] for name in LAYERS) == expected


def _ranges(addresses: set[int]) -> list[tuple[int, int]]:
    """The sorted, not adjacent ranges that the addresses make."""
    firsts = [address for address in sorted(addresses) if address - 1 not in addresses]
    lasts = [address for address in sorted(addresses) if address + 1 not in addresses]
    return list(zip(firsts, lasts, strict=True))


def test_a_gap_knows_nothing() -> None:
    owners = Partition(Addresses.of(4, [0, 5, 9]), {ROW: np.array([0, 2, 0])})
    numbers = of_rows(owners, {"isp": np.array([7, 8], np.int32)})
    assert numbers["isp"].tolist() == [0, 8, 0]
