"""The addresses that a map shows, and their places on the Hilbert curve.

Strategy: addresses are counted in cells of 2^cell_bits, and lie on the curve in aligned blocks of
cells. IPv4 is one block. Of IPv6, whose space is nearly empty, only those blocks are on the curve
in which anything is known, one after the other.

A cell can hold more than one answer: it shows its first address's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.address import BITS
from geolookup.dataset.intervals import I64, U64, Addresses, Bools, lasts
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
    last colour too. The labels from 2 to before ``rare`` are shown in every cell that has an
    address of theirs, the first label in one of several; other labels if the first address has it.
    """

    name: str  # of files and elements: "country"
    title: str  # as shown: "Country"
    note: str  # what the colours mean, in a sentence or two
    starts: Addresses
    values: NDArray[np.uint32]
    labels: Sequence[str]
    colours: Sequence[str]
    rare: int = 0

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


#: A cell of IPv4 is an address; of IPv6 a /48, usually one site (RFC 6177).
_CELL_BITS = {4: 0, 6: 80}
_SITE_SHIFT = np.uint64(_CELL_BITS[6] - 64)  # of the upper half of an address
#: A block of IPv6 is a /20: many operators have a /32, registries have a /12 or a /23.
_BLOCK_BITS = {4: BITS[4], 6: 108}


@dataclass(frozen=True, slots=True)
class Space:
    """The addresses of one family that lie on a curve: blocks of cells.

    A cell holds 2^cell_bits addresses. ``blocks`` are the numbers of blocks of 2^block_bits
    addresses, ascending: they lie on the curve one after the other, from cell 0. Cells after the
    last block are empty.
    """

    family: int
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
    def order(self) -> int:
        """The order of the smallest curve that has room for all blocks."""
        # 5 cells need order 2, 4 x 4; 4 cells order 1.
        return (max(self.cell_count - 1, 0).bit_length() + 1) // 2

    def coarser(self, bits: int) -> Space:
        """Return the space with cells of 2^bits times as many addresses, at most a block."""
        return replace(self, cell_bits=self.cell_bits + bits)

    def on_curve(self, cells: U64) -> tuple[U64, Bools]:
        """Return places on the curve of cells that are numbered from address 0.

        The second array, shape (n,), marks the cells that are in a block; the places are theirs.
        """
        per_block = np.uint64(self.cells_per_block)
        block, within = np.divmod(cells, per_block)
        blocks = np.array(self.blocks, np.uint64)
        number = np.searchsorted(blocks, block)
        inside = np.append(blocks, ~np.uint64(0))[number] == block
        return number[inside].astype(np.uint64) * per_block + within[inside], inside


def space_of(views: Sequence[View]) -> Space:
    """Return the space for views of one family: IPv4, or the populated part of IPv6.

    Its blocks are those in which any view knows anything. Nothing known: no block.
    """
    family = views[0].starts.family
    blocks = (0,) if family == 4 else tuple(_known_blocks(views).tolist())
    return Space(family, _CELL_BITS[family], _BLOCK_BITS[family], blocks)


def _known_blocks(views: Sequence[View]) -> I64:
    """Return the numbers of the blocks of IPv6 in which any view knows an address."""
    count = 1 << BITS[6] - _BLOCK_BITS[6]
    change = np.zeros(count + 1, np.int64)  # of the number of known intervals, at each block
    for view in views:
        known = view.values > UNKNOWN
        change += np.bincount(_blocks(view.starts)[known], minlength=count + 1)
        change -= np.bincount(_blocks(lasts(view.starts))[known] + 1, minlength=count + 1)
    return np.flatnonzero(np.cumsum(change))


def _blocks(addresses: Addresses) -> I64:
    bits = np.uint64(_BLOCK_BITS[6] - _CELL_BITS[6])
    return (_cells(addresses) >> bits).astype(np.int64)


def _cells(addresses: Addresses) -> U64:
    """Return the number of the cell that holds each address, counted from address 0."""
    if addresses.high is None:
        return addresses.low.astype(np.uint64)
    return addresses.high >> _SITE_SHIFT


def first_cells(starts: Addresses) -> U64:
    """Return the first cell that each interval of a partition decides, counted from address 0.

    It decides those whose first address it holds; maybe none, if the next one begins in the cell.
    """
    cells = _cells(starts)
    if starts.high is None:
        return cells
    is_within = (cells << _SITE_SHIFT != starts.high) | (starts.low != 0)
    decided: U64 = cells + is_within
    return decided
