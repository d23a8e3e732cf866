"""Which cells a page shows if it states the sums of groups of places too, such as countries.

A reader can subtract the shown cells of a country from the country. So its hidden cells must sum to
0 or to at least ``least``, together with its part without coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup.pictures.wording import cover, mark_shown


class CellParts(NamedTuple):
    """The n parts of cells: a cell at a border has parts of several groups."""

    cells: I64  # positions of cells
    groups: I64
    weights: F64
    beside: F64  # of each group, shape (groups,): its weight without coordinates


def mark_cells(weights: F64, least: float, parts: CellParts) -> Bools:
    """Return which of n cells are shown; the smallest ones of a group are hidden first."""
    mask = mark_shown(weights, least)
    while len(at := _further(mask, weights, least, parts)):
        mask[at] = False
        mask = cover(mask, weights, least)
    return mask


def _further(mask: Bools, weights: F64, least: float, parts: CellParts) -> I64:
    """Return the smallest shown cell of each group whose hidden cells are too few."""
    shown = mask[parts.cells]
    hidden = np.bincount(parts.groups[~shown], parts.weights[~shown], len(parts.beside))
    few = (hidden > 0) & (hidden < least - parts.beside)
    candidates = np.flatnonzero(shown & few[parts.groups])
    ascending = candidates[np.argsort(weights[parts.cells[candidates]], kind="stable")]
    _, first = np.unique(parts.groups[ascending], return_index=True)
    return parts.cells[ascending[first]]
