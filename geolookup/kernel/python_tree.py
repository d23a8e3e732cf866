"""The nodes of a search tree in the Python kernel, with numpy: all nodes at once.

Strategy: the length of a boundary is the number of its bits up to the last one that is set. It
splits every shorter prefix that it lies in, so each of these is a node. Those that the boundary
before does not lie in are new nodes, numbered one after the other. The first boundary after the
start of a node's right half decides the value or node on its right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from geolookup.dataset.intervals import I64, U64, Addresses, is_partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = 128


class _NewNodes(NamedTuple):
    """The nodes that n boundaries add, of the depths from ``firsts`` up to ``lengths`` - 1."""

    firsts: I64
    lengths: I64


def count_nodes(highs: U64, lows: U64) -> int:
    """See ``protocol.Implementation``."""
    starts = _partition(highs, lows)
    added = _added_nodes(starts)
    return int((added.lengths - added.firsts).sum())


def fill_nodes(
    highs: U64, lows: U64, values: NDArray[np.uint32], nodes: NDArray[np.uint32]
) -> None:
    """See ``protocol.Implementation``."""
    if len(values) != len(lows) + 1:
        raise ValueError("the columns differ in length")
    if nodes.shape != (count_nodes(highs, lows), 2):
        raise ValueError("the nodes are not as many as counted")
    starts = Addresses(lows, highs)
    added = _added_nodes(starts)
    counts = added.lengths - added.firsts
    bases = np.cumsum(counts) - counts
    # Boundaries 64.0.0.0 and 96.0.0.0, as first bits 01 and 011 (lengths 2 and 3, firsts 0 and 2):
    #   counts [2, 1], bases [0, 2]          node 0   node 1    node 2
    #   owners [0, 0, 1], depths [0, 1, 2]   depth 0  depth 1   depth 2
    owners = np.repeat(np.arange(len(lows)), counts)
    numbers = np.arange(len(owners))
    depths = added.firsts[owners] + numbers - bases[owners]
    bit = _bit(starts[owners], depths)
    # Bit 1: the half before the boundary has no other boundary inside, so it is one value.
    nodes[:, 0] = np.where(bit, values[owners], numbers + 1)
    # Where the boundary's bit is 1, it lies on the right of the node: in the next node, or after
    # the last bit in none, because its range begins at the boundary.
    nodes[:, 1] = numbers + 1
    at = np.flatnonzero(~bit | (depths == added.lengths[owners] - 1))
    nodes[at, 1] = _right(starts, values, bases, _start_of_right(starts[owners[at]], depths[at]))


class _Half(NamedTuple):
    """The right halves of n nodes: their first addresses and their prefix lengths."""

    starts: Addresses
    lengths: I64


def _partition(highs: U64, lows: U64) -> Addresses:
    if len(highs) != len(lows):
        raise ValueError("the boundaries do not ascend")
    zero = np.zeros(1, np.uint64)
    starts = Addresses(np.concatenate([zero, lows]), np.concatenate([zero, highs]))
    if not is_partition(starts):
        raise ValueError("the boundaries do not ascend")
    return starts[1:]


def _added_nodes(starts: Addresses) -> _NewNodes:
    lengths = _lengths(starts)
    firsts = np.zeros(len(starts), np.int64)
    if len(starts):
        # 0100 and 0111 have lengths 2 and 4, and 2 bits in common: 0100 adds the nodes of depths 0
        # and 1, 0111 the nodes of depths 2 and 3.
        firsts[1:] = np.minimum(_common(starts), lengths[:-1] - 1) + 1
    return _NewNodes(firsts, lengths)


def _lengths(starts: Addresses) -> I64:
    """Return the number of bits up to the last one that is set."""
    low, high = starts.halves()
    last_low, last_high = low & (~low + np.uint64(1)), high & (~high + np.uint64(1))
    # v & -v keeps the last set bit: 0110 -> 0010; its bit length is its distance from the end, + 1.
    return np.where(low != 0, _BITS - _bit_length(last_low) + 1, 64 - _bit_length(last_high) + 1)


def _common(starts: Addresses) -> I64:
    """Return how many leading bits each address, from the second on, shares with the one before."""
    low, high = starts.halves()
    low, high = low[1:] ^ low[:-1], high[1:] ^ high[:-1]
    return np.where(high != 0, 64 - _bit_length(high), _BITS - _bit_length(low))


def _bit_length(values: U64) -> I64:
    """Return the number of bits of each value; floats hold halves of 32 bits exactly."""
    upper, lower = values >> np.uint64(32), values & np.uint64(0xFFFF_FFFF)
    # frexp(5.0) = (0.625, 3): the exponent is the bit length, 0 for 0. A float has 53 bits, so a
    # value of 64 bits could be rounded up to the next power of two.
    of_upper, of_lower = (np.frexp(half.astype(np.float64))[1] for half in (upper, lower))
    return np.where(upper != 0, of_upper + 32, of_lower).astype(np.int64)


def _bit(addresses: Addresses, depths: I64) -> NDArray[np.bool_]:
    low, high = addresses.halves()
    half = np.where(depths < 64, high, low)
    # Bit 0 of the address is the highest bit of its high half; bit 64 the highest of its low half.
    is_set: NDArray[np.bool_] = (half >> (63 - depths % 64).astype(np.uint64) & np.uint64(1)) != 0
    return is_set


def _start_of_right(addresses: Addresses, depths: I64) -> _Half:
    """Return the right halves of the prefixes of these depths around the addresses."""
    low, high = addresses.halves()
    # Depth 2 around 01011: the bits before depth 2 stay, that bit is set, the rest is 0: 01100.
    bit = np.uint64(1) << (63 - depths % 64).astype(np.uint64)
    mask = ~(bit - np.uint64(1))
    in_high = depths < 64
    starts = Addresses(
        np.where(in_high, np.uint64(0), low & mask | bit),
        np.where(in_high, high & mask | bit, high),
    )
    return _Half(starts, depths + 1)


def _right(
    boundaries: Addresses, values: NDArray[np.uint32], bases: I64, right: _Half
) -> NDArray[np.uint32]:
    """Return a node's number if a boundary lies inside a right half, else its value."""
    after = boundaries.search(right.starts)
    next_one = boundaries[np.minimum(after, len(boundaries) - 1)]
    first, other = _start_of_right(next_one, right.lengths - 1).starts, right.starts
    is_inside = (after < len(boundaries)) & first.equals(other) & _bit(next_one, right.lengths - 1)
    numbers = bases[np.minimum(after, len(boundaries) - 1)]
    return np.where(is_inside, numbers, values[after]).astype(np.uint32)
