r"""The search tree of an MMDB file: a node for each prefix that several ranges share.

The length of a boundary is the number of its bits up to the last one that is set. It splits every
shorter prefix that it lies in, so each of these is a node. Those that no boundary before lies in
are new nodes. They get the next numbers: the nodes of a path lie together. With 4 bits and the
boundaries 0100 and 0110, of the lengths 2 and 3, and values a below 0100, b below 0110, then c:

             node 0           0100 adds the root and 0*: nodes 0 and 1.
        0* /        \ 1*      0110 leaves their path after two bits, 01: it adds 01*, node 2.
        node 1       c
      00* / \ 01*
        a   node 2
         010* / \ 011*
            b     c

A half that the boundary itself does not enter ends at the next boundary that leaves the node. That
boundary either adds a node there, or the half has the value before it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import I64, U8, U64

U32 = NDArray[np.uint32]
_BITS = 128
_ONE = np.uint64(1)
#: Added to the number of a node.
_NEXT = np.uint32(1)


class Tree:
    """The smallest binary tree over n ascending boundaries, none of them 0, given by halves."""

    def __init__(self, high: U64, low: U64) -> None:
        self._high, self._low = high, low
        # 0110: v & -v keeps the last set bit, 0010, whose bit length is 2; of 4 bits 4 - 2 + 1.
        ends = _BITS + 1 - _bit_lengths(low & -low), _BITS // 2 + 1 - _bit_lengths(high & -high)
        length = np.where(low != 0, *ends)
        above, below = high[1:] ^ high[:-1], low[1:] ^ low[:-1]
        common = np.where(above, _BITS // 2 - _bit_lengths(above), _BITS - _bit_lengths(below))
        #: the depths of the new nodes of each boundary: from ``_first`` to before ``_length``
        self._first, self._length = np.zeros(len(low), np.uint8), length.astype(np.uint8)
        # 0100 and 0110 share 2 bits. 0100 is 2 long, so 01* is not a node yet: min(2, 1) + 1 = 2.
        self._first[1:] = np.minimum(common, length[:-1] - 1) + 1
        self._counts = (self._length - self._first).astype(np.int64)
        self.count = int(self._counts.sum())

    def nodes(self, values: U32) -> U32:
        """Return the nodes (count, 2): numbers of nodes, or values of the n + 1 ranges."""
        bases = (np.cumsum(self._counts) - self._counts).astype(np.uint32)
        owner = np.repeat(np.arange(len(bases), dtype=np.uint32), self._counts)
        number = np.arange(self.count, dtype=np.uint32)
        depth = (self._first[owner] + (number - bases[owner])).astype(np.uint8)
        is_right = self._bits(owner, depth)
        # A bit 1: on the left is one value, because this boundary is the first one in the node.
        left = np.where(is_right, values[owner], number + _NEXT)
        nodes = np.stack([left, number + _NEXT], axis=1)
        # Where a boundary ends, the range that begins with it is on the right.
        is_open = np.flatnonzero(~is_right | (depth == self._length[owner] - 1))
        nodes[is_open, 1] = self._right(owner[is_open], depth[is_open], values, bases)
        return nodes

    def _right(self, owner: U32, depth: U8, values: U32, bases: U32) -> U32:
        """Return the right halves of nodes that their boundaries do not enter."""
        right = np.empty(len(owner), np.uint32)
        first, bases = np.append(self._first, np.uint8(0)), np.append(bases, np.uint32(0))
        # A boundary without a new node is the end of a node that is there: it does not leave it.
        leaves = self._first + (self._counts == 0)
        order = np.argsort(depth, kind="stable")
        ends = np.searchsorted(depth[order], np.arange(_BITS + 1))
        for level, (begin, end) in enumerate(pairwise(ends.tolist())):
            if begin < end:
                at = order[begin:end]
                leaving = np.append(np.flatnonzero(leaves <= level + 1), len(leaves))
                after = leaving[np.searchsorted(leaving, owner[at], side="right")]
                right[at] = np.where(first[after] == level + 1, bases[after], values[after])
        return right

    def _bits(self, owner: U32, depth: U8) -> NDArray[np.bool_]:
        half = np.where(depth < _BITS // 2, self._high[owner], self._low[owner])
        shifts = (_BITS // 2 - 1 - depth % (_BITS // 2)).astype(np.uint64)
        is_set: NDArray[np.bool_] = (half >> shifts & _ONE) != 0
        return is_set


def _bit_lengths(words: U64) -> I64:
    """Return the position of the highest bit that is set, from 1; 0 for 0."""
    # frexp(5.0) is (0.625, 3). Below the highest bit of 0b1011, ~(v >> 1) clears the next one: so
    # rounding to the 53 bits of a float reaches no further power of two.
    return np.frexp((words & ~(words >> _ONE)).astype(np.float64))[1].astype(np.int64)
