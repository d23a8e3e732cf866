"""Several views of one family as one partition of the cells of its curve."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, U64
from geolookup.dataset.runs import run_starts
from geolookup.pictures.address_space import UNKNOWN, Space, View, first_cells, space_of

Labels = NDArray[np.uint32]
Form = TypeVar("Form")


@dataclass(frozen=True, slots=True)
class AddressMap:
    """A partition of a curve's filled cells, and the label of each range in each view.

    ``starts``, shape (n,), are the ranges' first cells, ascending, the first 0. ``values`` are
    the labels' positions, an array of shape (n,) for each view.
    """

    space: Space
    views: Sequence[View]
    starts: U64
    values: Sequence[Labels]

    def shares(self, number: int) -> F64:
        """Return each label's share of the filled cells in a view, by its number."""
        cells = np.diff(self.starts, append=np.uint64(self.space.cell_count))
        count = len(self.views[number].labels)
        return np.bincount(self.values[number], cells, count) / self.space.cell_count

    def coarser(self, bits: int) -> AddressMap:
        """Return the map with cells of 2^bits times as many addresses, at most a block.

        A coarse cell has the labels of its first address, but see ``View.rare``.
        """
        space = self.space.coarser(bits)
        # A range decides from the first coarse cell that begins in it. It decides none if the
        # next range begins in the same cell, or the last cell is before it.
        cells = self.starts + np.uint64((1 << bits) - 1) >> np.uint64(bits)
        is_last = run_starts(cells[::-1])[::-1]
        decides = is_last & (cells < np.uint64(space.cell_count))
        firsts, values = cells[decides], [value[decides] for value in self.values]
        for number, view in enumerate(self.views):
            if bits and view.rare:
                firsts, values = self._with_rare(firsts, values, number, bits)
        return AddressMap(space, self.views, *_join(firsts, values))

    def _with_rare(
        self, firsts: U64, values: Sequence[Labels], number: int, bits: int
    ) -> tuple[U64, list[Labels]]:
        """Return ranges of coarse cells cut and labelled anew where a view has a rare label."""
        labels, shift = self.values[number], np.uint64(bits)
        rare = np.flatnonzero((labels > UNKNOWN) & (labels < self.views[number].rare))
        ends = np.append(self.starts[1:], np.uint64(self.space.cell_count))
        # Cells of four, rare ranges 3-5 and 7-7: in the coarse cells 0 to 1, and in 1.
        begin, last = self.starts[rare] >> shift, (ends[rare] - np.uint64(1)) >> shift
        cells = _union([firsts, begin, last + np.uint64(1)])
        cells = cells[cells < np.uint64(self.space.cell_count >> bits)]
        at = np.searchsorted(firsts, cells, side="right") - 1
        labelled = [value[at] for value in values]
        # Those that begin up to a cell and end in it or later: neighbours of the ascending ones.
        least, most = np.searchsorted(last, cells), np.searchsorted(begin, cells, side="right")
        some = np.flatnonzero(least < most)
        bounds = np.column_stack([least[some], most[some]]).ravel()
        # The last bound may be the end, which ``reduceat`` refuses.
        padded = np.append(labels[rare], np.uint32(self.views[number].rare))
        labelled[number][some] = np.minimum.reduceat(padded, bounds)[::2] if len(some) else 0
        return cells, labelled

    def finest(
        self, options: Sequence[int], form: Callable[[AddressMap], Form], limit: int
    ) -> Form:
        """Return the form of the finest map whose JSON has at most ``limit`` characters.

        ``options`` are the bits of ever coarser maps. If none fits, the last is returned.
        """
        made = cache(lambda bits: form(self.coarser(bits)))
        at = bisect_left(options[:-1], True, key=lambda bits: len(json.dumps(made(bits))) <= limit)
        return made(options[at])


def address_map(views: Sequence[View]) -> AddressMap:
    """Return views of one family as a map; ValueError if they are of both families."""
    if len({view.starts.family for view in views}) != 1:
        raise ValueError("the views are of both families")
    space = space_of(views)
    partitions = {id(view.starts): first_cells(view.starts) for view in views}
    blocks = np.array(space.blocks, np.uint64) * np.uint64(space.cells_per_block)
    cells = _union([blocks, *partitions.values()])
    places, inside = space.on_curve(cells)
    intervals = {
        key: np.searchsorted(firsts, cells[inside], side="right") - 1
        for key, firsts in partitions.items()
    }
    values = [view.values[intervals[id(view.starts)]] for view in views]
    return AddressMap(space, views, *_join(places, values))


def _union(several: Sequence[U64]) -> U64:
    """Return the distinct cells of several ascending arrays, ascending."""
    # A stable sort merges ascending parts, so its time grows with their length.
    cells = np.sort(np.concatenate(several), kind="stable")
    return cells[run_starts(cells)]


def _join(starts: U64, values: Sequence[Labels]) -> tuple[U64, list[Labels]]:
    """Join adjacent ranges that have the same label in every view."""
    begins = run_starts(*values)
    return starts[begins], [value[begins] for value in values]
