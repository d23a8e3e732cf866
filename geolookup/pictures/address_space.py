"""Which addresses a map shows, and where they lie on the Hilbert curve.

Strategy: the curve has cells of 2^cell_bits addresses. IPv4 lies on it whole. Of IPv6, whose
space is nearly empty, only those blocks do in which anything is known, one after the other.

A cell can hold more than one answer: it shows its first address's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U64, Addresses, lasts
from geolookup.pictures import colours as palette

#: The first two labels of every view.
SPECIAL, UNKNOWN = 0, 1
FIRST = ("special-purpose", "unknown")


@dataclass(frozen=True, slots=True)
class View:
    """One way to colour a map of one family: by country, by source and so on.

    ``starts`` is a partition of the family's whole space. ``values``, shape (n,), are the
    positions of the intervals' labels. The labels 0 and 1 stand for special-purpose space and
    for the unknown. ``colours`` (#rrggbb) belong to the first labels; all further labels have the
    last colour too.
    """

    name: str  # of files and elements: "country"
    title: str  # as shown: "Country"
    note: str  # what the colours mean, in a sentence or two
    starts: Addresses
    values: NDArray[np.uint32]
    labels: Sequence[str]
    colours: Sequence[str]

    def legend(self) -> list[str]:
        """Return the text of each colour; the last one may be of several labels."""
        own = self.labels[: len(self.colours)]
        others = len(self.labels) - len(self.colours) + 1
        return [*own] if others < 2 else [*own[:-1], f"{others:,} others"]


def view_of(
    name: str, title: str, note: str, starts: Addresses, values: NDArray[np.uint32],
    labels: Sequence[str],
) -> View:  # fmt: skip
    """Return a view whose labels from the third on have a colour each, as far as they reach."""
    colours = (palette.SPECIAL, palette.UNKNOWN, *palette.CATEGORIES[: len(labels)], palette.OTHER)
    return View(name, title, note, starts, values, (*FIRST, *labels), colours)


#: The prefix lengths that blocks of IPv6 may have: allocations to registries and operators.
_BLOCK_LENGTHS = range(16, 25, 2)
#: A cell of IPv6 is a /48, usually one site (RFC 6177).
_SITE_BITS = 80


@dataclass(frozen=True, slots=True)
class Space:
    """The addresses of one family that lie on a curve of 4^order cells.

    A cell holds 2^cell_bits addresses. ``blocks`` are the first addresses of aligned blocks of
    2^block_bits addresses, ascending: they lie on the curve one after the other, from cell 0.
    Cells after the last block are empty. ``block_bits - cell_bits`` is even: each block is a
    square. A cell of IPv6 is not smaller than a /64.
    """

    family: int
    order: int
    cell_bits: int
    block_bits: int
    blocks: tuple[int, ...]

    @property
    def cells_per_block(self) -> int:
        """The cells of each block."""
        return 1 << self.block_bits - self.cell_bits

    @property
    def cell_count(self) -> int:
        """The cells of all blocks; those after them are empty."""
        return len(self.blocks) * self.cells_per_block

    @property
    def block_order(self) -> int:
        """The order of the square that is a block."""
        return (self.block_bits - self.cell_bits) // 2

    def coarser(self, steps: int) -> Space:
        """Return the space with cells of 4^steps times as many addresses, at most a block."""
        cell_bits = self.cell_bits + 2 * steps
        return replace(self, order=self.order - steps, cell_bits=cell_bits)

    def first_address(self, cell: int) -> int:
        """Return the first address of a cell; IndexError for an empty cell."""
        block, offset = divmod(cell, self.cells_per_block)
        return self.blocks[block] + (offset << self.cell_bits)

    def cut(self, starts: Addresses) -> tuple[U64, I64]:
        """Return a partition of the family's space as one of the curve's filled cells.

        The first array is the ascending first cells, the second the interval of ``starts``, shape
        (n,), that decides from there on: the one that holds the first address of each cell.
        """
        if not self.blocks:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64)
        firsts = Addresses.of(self.family, self.blocks)
        begins = np.arange(len(self.blocks), dtype=np.uint64) * np.uint64(self.cells_per_block)
        cells, intervals = self._first_cells(starts, firsts)
        # Each block begins with the interval that holds its first address.
        cells = np.concatenate([begins, cells])
        intervals = np.concatenate([starts.search(firsts) - 1, intervals])
        order = np.argsort(cells, kind="stable")
        return last_of_each(cells[order], intervals[order])

    def _first_cells(self, starts: Addresses, firsts: Addresses) -> tuple[U64, I64]:
        """Return the first cell of each interval that begins in a block, and the intervals."""
        block = np.maximum(firsts.search(starts) - 1, 0)
        unit = 64 if self.family == 6 else 0
        position, of_block = _positions(starts), _positions(firsts)[block]
        offset = position - of_block
        # Up to the next whole cell, whose first address is the first that it decides.
        # Cells of 4: offset 5 is (5 + 3) // 4 = 2, the cell that begins at 8.
        round_up = np.uint64((1 << self.cell_bits - unit) - 1)
        if starts.high is not None:
            # A start inside a /64 decides from the next /64 on.
            round_up = round_up + (starts.low != 0)
        cell = offset + round_up >> np.uint64(self.cell_bits - unit)
        inside = np.flatnonzero((position >= of_block) & (cell < np.uint64(self.cells_per_block)))
        begins = block.astype(np.uint64) * np.uint64(self.cells_per_block)
        return (begins + cell)[inside], inside


#: IPv4, each address a cell.
IPV4 = Space(4, 16, 0, BITS[4], (0,))


def space_of(views: Sequence[View]) -> Space:
    """Return the space for views of one family: IPv4, or the populated part of IPv6.

    Its blocks are the prefixes of one length in which any view knows anything. The length is
    the one that needs the smallest square; the shortest of several. Nothing known: no block.
    """
    if views[0].starts.family == 4:
        return IPV4
    firsts, lasts = _known_highs(views)
    # Without the blocks: a short prefix that is known has millions of long ones.
    needed = {length: _order(*_blocks(firsts, lasts, length), length) for length in _BLOCK_LENGTHS}
    length = min(needed, key=lambda option: (needed[option], option))
    begins, ends = _blocks(firsts, lasts, length)
    numbers = (number for run in zip(begins, ends, strict=True) for number in range(*run))
    bits = BITS[6] - length
    return Space(6, needed[length], _SITE_BITS, bits, tuple(number << bits for number in numbers))


def _order(begins: I64, ends: I64, length: int) -> int:
    cells = int((ends - begins).sum()) << BITS[6] - length - _SITE_BITS
    # 5 cells need order 2, 4 x 4; 4 cells order 1.
    return (max(cells - 1, 0).bit_length() + 1) // 2


def _blocks(firsts: U64, lasts: U64, length: int) -> tuple[I64, I64]:
    """Return the numbers of the blocks that ranges touch, as runs: from each, to before each.

    The ranges are in ascending order of their firsts.
    """
    shift = np.uint64(64 - length)
    begins, ends = (firsts >> shift).astype(np.int64), (lasts >> shift).astype(np.int64) + 1
    # Runs 1-4 and 3-6 become 1-4 and 4-6: each block is in one run.
    begins[1:] = np.maximum(begins[1:], np.maximum.accumulate(ends)[:-1])
    fresh = begins < ends
    return begins[fresh], ends[fresh]


def _known_highs(views: Sequence[View]) -> tuple[U64, U64]:
    """Return the upper halves of the first and last addresses that any view knows."""
    pairs = [(view.starts, np.flatnonzero(view.values > UNKNOWN)) for view in views]
    firsts = np.concatenate([_positions(starts[at]) for starts, at in pairs])
    ends = np.concatenate([_positions(lasts(starts)[at]) for starts, at in pairs])
    order = np.argsort(firsts, kind="stable")
    return firsts[order], ends[order]


def _positions(addresses: Addresses) -> U64:
    """Return IPv4 addresses, or the upper halves of IPv6 addresses."""
    high = addresses.low if addresses.high is None else addresses.high
    return high.astype(np.uint64)


def last_of_each(cells: U64, values: NDArray[Any]) -> tuple[U64, NDArray[Any]]:
    """Return the distinct cells of ascending ones, and the last value of each."""
    last = np.append(cells[1:] != cells[:-1], True)
    return cells[last], values[last]
