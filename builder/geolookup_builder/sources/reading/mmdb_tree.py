"""The search tree of an MMDB to its networks, all nodes of a depth at once.

Strategy: the tree is one numpy array of nodes, and the front of nodes that are
reached goes down bit by bit. Of a damaged tree, whose nodes may lead back to
each other, no more is walked than a whole one could hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U64, Bools, Points
from geolookup_builder.ranges import ParsedRanges

_IPV4_BITS = 96  # of an IPv6 tree lie above the IPv4 addresses
#: How often a node may be reached on average; more than once where writers share subtrees.
_MOST_VISITS = 4


class DamagedTreeError(Exception):
    """A search tree that no writer makes."""


@dataclass(frozen=True, slots=True)
class Front:
    """Places in the tree at one depth: the prefix as an address, and the node or record there."""

    high: U64
    low: U64
    at: I64

    def __getitem__(self, chosen: Bools | I64) -> Front:
        return Front(self.high[chosen], self.low[chosen], self.at[chosen])


@dataclass(frozen=True, slots=True)
class Networks:
    """The networks of a tree in order of address; ``offsets`` of data count from the tree's end."""

    ranges: ParsedRanges
    offsets: I64


def nodes_of(tree: bytes, count: int, record_bits: int) -> I64:
    """Return the nodes as (count, 2): what lies at the left and at the right of each."""
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
    front = Front(np.zeros(1, np.uint64), np.zeros(1, np.uint64), np.zeros(1, np.int64))
    found: list[Front] = []
    lengths: list[I64] = []
    visited = 0
    for depth in range(1, bits + 1):
        visited += len(front.at)
        if visited > _MOST_VISITS * count + bits:
            raise DamagedTreeError("its nodes lead back to each other")
        front = _children(front, nodes, bits - depth)
        leaves = front[front.at > count]
        found.append(leaves)
        lengths.append(np.full(len(leaves.at), depth))
        front = front[front.at < count]
        # The IPv4 addresses hang in the tree up to four times; only the first counts.
        front = front[(front.at != ipv4) | (front.high == 0) & (front.low == 0)]
    if len(front.at):
        raise DamagedTreeError("it is deeper than an address is long")
    return _networks(found, np.concatenate(lengths), count, bits)


def _ipv4_node(nodes: I64) -> int:
    """Return the node of ::/96, or the number of nodes where there is none."""
    at = 0
    for _ in range(_IPV4_BITS):
        if at >= len(nodes):
            return len(nodes)
        at = int(nodes[at, 0])
    return min(at, len(nodes))


def _children(front: Front, nodes: I64, bit: int) -> Front:
    """Return what lies under a front, left and right, whose addresses differ in ``bit``."""
    high, low = (1 << bit) >> 64, (1 << bit) & (1 << 64) - 1
    return Front(
        np.concatenate([front.high, front.high | np.uint64(high)]),
        np.concatenate([front.low, front.low | np.uint64(low)]),
        np.concatenate([nodes[front.at, 0], nodes[front.at, 1]]),
    )


def _networks(found: list[Front], lengths: I64, count: int, bits: int) -> Networks:
    high, low, at = (
        np.concatenate([getattr(each, name) for each in found]) for name in ("high", "low", "at")
    )
    order = np.lexsort((low, high))
    high, low, host = high[order], low[order], bits - lengths[order]
    first = Points(low, high)
    last = Points(low | _ones(host), high | _ones(host - 64))
    in_ipv4 = (high == 0) & (low >> np.uint64(32) == 0) & (host <= 32)
    family = np.where(in_ipv4, 4, 6).astype(np.uint8)
    ranges = ParsedRanges(family, first, last, np.zeros(len(order), np.uint8))
    return Networks(ranges, at[order] - count)


def _ones(bits: I64) -> NDArray[np.uint64]:
    """Return as many low bits set, at most 64 and none for less than one."""
    kept = np.clip(bits, 0, 64)
    # A shift by 64 is not defined.
    some = ~np.uint64(0) >> np.minimum(64 - kept, 63).astype(np.uint64)
    return np.where(kept == 0, np.uint64(0), some)
