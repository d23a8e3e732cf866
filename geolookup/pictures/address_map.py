"""Several views of one family as one partition of the cells of its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.dataset.intervals import U64, Bools
from geolookup.pictures.address_space import Space, View, last_of_each, space_of


@dataclass(frozen=True, slots=True)
class AddressMap:
    """A partition of a curve's filled cells, and the label of each range in each view.

    ``starts``, shape (n,), are the ranges' first cells, ascending, the first 0. ``values`` are
    the labels' positions, an array of shape (n,) for each view.
    """

    space: Space
    views: Sequence[View]
    starts: U64
    values: Sequence[NDArray[np.uint32]]

    def coarser(self, steps: int) -> AddressMap:
        """Return the map with cells of 4^steps times as many addresses."""
        bits = np.uint64(2 * steps)
        up = np.uint64((1 << 2 * steps) - 1)
        # Rounded up: a coarse cell shows the label of its first fine cell.
        cells = self.starts + up >> bits
        space = self.space.coarser(steps)
        # A range within the last cell does not decide any.
        inside = cells < np.uint64(space.cell_count)
        starts, rows = last_of_each(cells[inside], np.flatnonzero(inside))
        return _join(space, self.views, starts, [value[rows] for value in self.values])


def address_map(views: Sequence[View]) -> AddressMap:
    """Return views of one family as a map; ValueError if they are of both families."""
    if len({view.starts.family for view in views}) != 1:
        raise ValueError("the views are of both families")
    space = space_of(views)
    cuts = {id(view.starts): space.cut(view.starts) for view in views}
    starts = _union([cells for cells, _ in cuts.values()])
    holding = {
        key: intervals[np.searchsorted(cells, starts, side="right") - 1]
        for key, (cells, intervals) in cuts.items()
    }
    return _join(space, views, starts, [view.values[holding[id(view.starts)]] for view in views])


def _union(sorted_cells: Sequence[U64]) -> U64:
    cells = np.sort(np.concatenate(sorted_cells), kind="stable")
    return cells[changes(cells)]


def _join(
    space: Space, views: Sequence[View], starts: U64, values: Sequence[NDArray[np.uint32]]
) -> AddressMap:
    """Return the map with adjacent ranges joined that are alike in every view."""
    differs = np.zeros(len(starts), bool)
    for value in values:
        differs |= changes(value)
    return AddressMap(space, views, starts[differs], [value[differs] for value in values])


def changes(values: NDArray[Any]) -> Bools:
    """Mark the values that differ from the one before; the first does."""
    begins = np.ones(len(values), bool)
    begins[1:] = values[1:] != values[:-1]
    return begins
