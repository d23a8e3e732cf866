"""The search tree of an MMDB to its networks, all nodes of a depth at once.

The tree is one numpy array of nodes. A breadth-first search expands all nodes of
one depth (one bit of the address) per step. In a damaged tree nodes may form a
cycle; the number of visited nodes is therefore limited.
Format: https://maxmind.github.io/MaxMind-DB/ (section "Binary Search Tree").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U64, Addresses, Bools
from geolookup_builder.ranges import ParsedRanges

_IPV4_DEPTH = 96  # of the IPv4 subtree ::/96 in an IPv6 tree
#: Visits of a node on average; more than one where a writer shares subtrees.
_MAX_VISITS = 4


class DamagedTreeError(Exception):
    """A search tree that is not valid."""


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches at one depth: the prefix as an address, and the node or record it leads to."""

    high: U64
    low: U64
    at: I64

    def __getitem__(self, chosen: Bools | I64) -> Branches:
        return Branches(self.high[chosen], self.low[chosen], self.at[chosen])


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of a tree by address; ``offsets`` of their data count from the tree's end."""

    ranges: ParsedRanges
    offsets: I64


def nodes_of(tree: bytes, count: int, record_bits: int) -> I64:
    """Return the nodes as an array (count, 2): the left and the right branch of each."""
    wide = np.frombuffer(tree, np.uint8).reshape(count, record_bits // 4).astype(np.int64)
    if record_bits == 28:  # the middle byte holds the top bits of both
        left = wide[:, 3] >> 4 << 24 | wide[:, 0] << 16 | wide[:, 1] << 8 | wide[:, 2]
        right = (wide[:, 3] & 15) << 24 | wide[:, 4] << 16 | wide[:, 5] << 8 | wide[:, 6]
        return np.stack([left, right], axis=1)
    size = record_bits // 8
    weights = 256 ** np.arange(size - 1, -1, -1, dtype=np.int64)
    return np.stack([wide[:, :size] @ weights, wide[:, size:] @ weights], axis=1)


def walk(nodes: I64, bits: int) -> Networks:
    """Return the networks of a tree over addresses of 32 or 128 ``bits``."""
    count = len(nodes)
    if not count:
        raise DamagedTreeError("it has no nodes")
    ipv4 = _ipv4_node(nodes) if bits == 128 else count
    branches = Branches(np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.int64))
    found: list[Branches] = []
    lengths: list[I64] = []
    visited = 0
    for depth in range(1, bits + 1):
        visited += len(branches.at)
        if visited > _MAX_VISITS * count + bits:
            raise DamagedTreeError("its nodes form a cycle")
        branches = _children(branches, nodes, bits - depth)
        leaves = branches[branches.at > count]
        found.append(leaves)
        lengths.append(np.full(len(leaves.at), depth))
        branches = branches[branches.at < count]
        # Writers link the IPv4 subtree up to four times (mapped, 6to4, …); keep ::/96 alone.
        branches = branches[(branches.at != ipv4) | (branches.high == 0) & (branches.low == 0)]
    if len(branches.at):
        raise DamagedTreeError("it is deeper than an address has bits")
    return _networks(found, np.concatenate(lengths), count, bits)


def _ipv4_node(nodes: I64) -> int:
    """Return the node of ::/96, or the number of nodes where there is none."""
    at = 0
    for _ in range(_IPV4_DEPTH):
        if at >= len(nodes):
            return len(nodes)
        at = int(nodes[at, 0])
    return min(at, len(nodes))


def _children(branches: Branches, nodes: I64, bit: int) -> Branches:
    """Return the branches below, left and right; ``bit`` of the address tells them apart."""
    high, low = (1 << bit) >> 64, (1 << bit) & (1 << 64) - 1
    return Branches(
        np.concatenate([branches.high, branches.high | np.uint64(high)]),
        np.concatenate([branches.low, branches.low | np.uint64(low)]),
        np.concatenate([nodes[branches.at, 0], nodes[branches.at, 1]]),
    )


def _networks(found: list[Branches], lengths: I64, count: int, bits: int) -> Networks:
    high, low, at = (
        np.concatenate([getattr(each, name) for each in found]) for name in ("high", "low", "at")
    )
    order = np.lexsort((low, high))
    high, low, host = high[order], low[order], bits - lengths[order]
    first = Addresses(low, high)
    last = Addresses(low | _ones(host), high | _ones(host - 64))
    in_ipv4 = (high == 0) & (low >> np.uint64(32) == 0) & (host <= 32)
    family = np.where(in_ipv4, 4, 6).astype(np.uint8)
    ranges = ParsedRanges(family, first, last, np.zeros(len(order), np.uint8))
    return Networks(ranges, at[order] - count)


def _ones(bits: I64) -> NDArray[np.uint64]:
    """Return a mask of that many low bits; none below 1, all 64 above 64."""
    kept = np.clip(bits, 0, 64)
    # numpy leaves a shift by 64 undefined.
    some = ~np.uint64(0) >> np.minimum(64 - kept, 63).astype(np.uint64)
    return np.where(kept == 0, np.uint64(0), some)
