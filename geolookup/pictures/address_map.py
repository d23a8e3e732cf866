"""Several views of one family as one partition of the cells of its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import F64, U64
from geolookup.dataset.runs import run_starts
from geolookup.pictures.address_space import Space, View, last_of_each, space_of

Labels = NDArray[np.uint32]


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

    def coarser(self, steps: int) -> AddressMap:
        """Return the map with cells of 4^steps times as many addresses."""
        starts, values = self.coarse_ranges(2 * steps)
        return AddressMap(self.space.coarser(steps), self.views, starts, values)

    def coarse_ranges(self, bits: int) -> tuple[U64, list[Labels]]:
        """Return ``starts`` and ``values`` of cells of 2^bits times as many addresses.

        A coarse cell has the labels of its first address. ``bits`` are at most a block's.
        """
        up = np.uint64((1 << bits) - 1)
        # A range decides from the first coarse cell that begins in it.
        cells = self.starts + up >> np.uint64(bits)
        # A range within the last cell decides none.
        inside = cells < np.uint64(self.space.cell_count >> bits)
        starts, rows = last_of_each(cells[inside], np.flatnonzero(inside))
        return _join(starts, [value[rows] for value in self.values])


def address_map(views: Sequence[View]) -> AddressMap:
    """Return views of one family as a map; ValueError if they are of both families."""
    if len({view.starts.family for view in views}) != 1:
        raise ValueError("the views are of both families")
    space = space_of(views)
    cuts = {id(view.starts): space.cut(view.starts) for view in views}
    starts = np.sort(np.concatenate([cells for cells, _ in cuts.values()]), kind="stable")
    starts = starts[run_starts(starts)]
    intervals = {
        key: at[np.searchsorted(cells, starts, side="right") - 1]
        for key, (cells, at) in cuts.items()
    }
    values = [view.values[intervals[id(view.starts)]] for view in views]
    return AddressMap(space, views, *_join(starts, values))


def _join(starts: U64, values: Sequence[Labels]) -> tuple[U64, list[Labels]]:
    """Join adjacent ranges that have the same label in every view."""
    begins = run_starts(*values)
    return starts[begins], [value[begins] for value in values]
