"""Columns of row-major tables and search trees of boundaries: both kernels make the same."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.internals.kernel import kernel
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import MODULES, compiled, needs_compiled

_LOW = (1 << 64) - 1


def halves(boundaries: list[int]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    highs = np.array([value >> 64 for value in boundaries], np.uint64)
    return highs, np.array([value & _LOW for value in boundaries], np.uint64)


def tree(module: ModuleType, boundaries: list[int]) -> NDArray[np.uint32]:
    """The nodes; the values are those after the last node, in the order of the ranges."""
    columns = halves(boundaries)
    count = module.count_nodes(*columns)
    nodes = np.full((count, 2), 0xFFFF_FFFF, np.uint32)
    values = np.arange(count, count + len(boundaries) + 1, dtype=np.uint32)
    module.fill_nodes(*columns, values, nodes)
    return nodes


def range_of(nodes: NDArray[np.uint32], address: int) -> int:
    at = 0
    for depth in range(128):
        at = int(nodes[at, address >> 127 - depth & 1])
        if at >= len(nodes):
            return at - len(nodes)
    raise AssertionError("deeper than an address")


def prefixes(boundaries: list[int]) -> set[tuple[int, int]]:
    """The prefixes that no range contains: each needs a node."""
    return {
        (length, value >> 128 - length)
        for value in boundaries
        for length in range(128)
        if value & (1 << 128 - length) - 1
    }


#: Of few bits, anywhere in the 128: boundaries meet.
sets = st.tuples(st.sets(st.integers(1, 255), max_size=12), st.integers(0, 120)).map(
    lambda drawn: sorted(value << drawn[1] for value in drawn[0])
) | st.sets(st.integers(1, (1 << 128) - 1), max_size=6).map(sorted)


@needs_compiled
@given(sets)
def test_a_tree_answers_by_range_and_has_no_node_to_spare(boundaries: list[int]) -> None:
    nodes = tree(compiled, boundaries)
    assert len(nodes) == len(prefixes(boundaries))
    assert np.array_equal(nodes, tree(kernel_python, boundaries))
    last = (1 << 128) - 1
    near = {min(value + step, last) for value in boundaries for step in (-1, 0, 1)}
    for address in {*near, 0, last} if boundaries else ():
        assert range_of(nodes, address) == sum(boundary <= address for boundary in boundaries)


@pytest.mark.parametrize("module", MODULES)
def test_nodes_and_what_makes_none(module: ModuleType) -> None:
    assert len(tree(module, [])) == 0
    nodes = tree(module, [1 << 24, 1 << 125])  # the nodes of the prefix of zeros are first
    assert [int(left) for left in nodes[:103, 0]] == [*range(1, 104)]
    for boundaries in ([0], [5, 5], [7, 3], [1 << 64, 5]):
        with pytest.raises(ValueError, match="do not ascend"):
            module.count_nodes(*halves(boundaries))
    columns = halves([1 << 120])
    nodes = np.zeros((8, 2), np.uint32)
    with pytest.raises(ValueError, match="differ in length"):
        module.fill_nodes(*columns, np.zeros(1, np.uint32), nodes)
    with pytest.raises(ValueError, match="as many as counted"):
        module.fill_nodes(*columns, np.zeros(2, np.uint32), nodes[:7].copy())
    with pytest.raises(ValueError, match="do not ascend"):
        module.count_nodes(columns[0], columns[1][:0].copy())


GATHERERS = [kernel.gather, kernel_python.gather]
#: (number, first byte, width) of columns in rows of 40 bytes.
LANES = [(0, 8, 8), (63, 16, 8), (2, 24, 4), (3, 30, 2), (9, 32, 4)]
STRIDE = 40
Lane = tuple[int, int, int]


def gathered(
    gather: Any, table: Any, rows: Any, lanes: Sequence[Lane] = LANES
) -> tuple[int, list[bytes], list[bytes]]:
    """Return the union of the nulls, and the values and the validity of each lane."""
    values = [np.full(len(rows) * width, 7, np.uint8) for _, _, width in lanes]
    validity = [np.full((len(rows) + 7) // 8, 7, np.uint8) for _ in lanes]
    nulls = gather(table, rows, list(lanes), values, validity)
    return nulls, [value.tobytes() for value in values], [flag.tobytes() for flag in validity]


def expected(table: Any, rows: Any) -> tuple[int, list[bytes], list[bytes]]:
    """Return the same, row by row."""
    words = [int.from_bytes(table[row, :8].tobytes(), "little") for row in rows]
    union = 0
    for word in words:
        union |= word
    values, validity = [], []
    for number, begin, width in LANES:
        values.append(b"".join(table[row, begin : begin + width].tobytes() for row in rows))
        bits = sum((~word >> number & 1) << at for at, word in enumerate(words))
        validity.append(bits.to_bytes((len(rows) + 7) // 8, "little"))
    return union, values, validity


@pytest.mark.parametrize("gather", GATHERERS)
@given(st.integers(0, 1 << 32), st.integers(0, 200), st.sampled_from([0.0, 0.01, 0.5, 1.0]))
def test_equal_to_a_loop(gather: Any, seed: int, count: int, share: float) -> None:
    """Counts around the blocks of the compiled kernel, with no nulls, some, and nulls only."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 256, (50, STRIDE)).astype(np.uint8)
    table[rng.random(50) >= share, :8] = 0
    rows = rng.integers(0, 50, count).astype(np.uint32)
    assert gathered(gather, table, rows) == expected(table, rows)


@pytest.mark.parametrize("gather", GATHERERS)
def test_rows_outside_are_refused(gather: Any) -> None:
    table = np.zeros((3, STRIDE), np.uint8)
    for row in (3, 1 << 31, (1 << 32) - 1):
        with pytest.raises(IndexError):
            gathered(gather, table, np.array([0, 2, row], np.uint32))


@needs_compiled
def test_lanes_and_outputs_outside_are_refused() -> None:
    table, rows = np.zeros((3, STRIDE), np.uint8), np.zeros(4, np.uint32)
    for lane in ((0, 36, 8), (0, -1, 4), (0, 40, 2), (0, 8, 3), (64, 8, 4)):
        with pytest.raises(ValueError, match="outside the row"):
            gathered(compiled.gather, table, rows[:1], [lane])
    for size, bits in ((15, 1), (16, 0), (17, 1), (16, 2)):
        outputs = [np.empty(size, np.uint8)], [np.empty(bits, np.uint8)]
        with pytest.raises(ValueError, match="differ in length"):
            compiled.gather(table, rows, [(0, 8, 4)], *outputs)
