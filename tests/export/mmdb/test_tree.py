"""The search tree of boundaries: an address leads to its range, and no node is to spare."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.export import Tree


def tree(boundaries: list[int]) -> list[list[int]]:
    """The nodes; the values are those after the last node, in the order of the ranges."""
    halves = ([value >> shift & (1 << 64) - 1 for value in boundaries] for shift in (64, 0))
    built = Tree(*(np.array(half, np.uint64) for half in halves))
    values = np.arange(built.count, built.count + len(boundaries) + 1, dtype=np.uint32)
    nodes: Any = built.nodes(values).tolist()
    assert len(nodes) == built.count
    return list(nodes)


def range_of(nodes: list[list[int]], address: int) -> int:
    at = 0
    for depth in range(128):
        at = nodes[at][address >> 127 - depth & 1]
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


@given(sets)
def test_a_tree_answers_by_range_and_has_no_node_to_spare(boundaries: list[int]) -> None:
    nodes = tree(boundaries)
    assert len(nodes) == len(prefixes(boundaries))
    last = (1 << 128) - 1
    near = {min(value + step, last) for value in boundaries for step in (-1, 0, 1)}
    for address in {*near, 0, last} if boundaries else ():
        assert range_of(nodes, address) == sum(boundary <= address for boundary in boundaries)


def test_the_nodes_of_the_prefix_of_zeros_are_first() -> None:
    assert [left for left, _ in tree([1 << 24, 1 << 125])[:103]] == [*range(1, 104)]
