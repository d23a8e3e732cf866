"""The Hilbert curve by its steps, to compare pictures and scripts with.

It is a square of 2^order by 2^order cells, numbered along the curve.

Cell 0 is the top left one, the last cell the top right one. Cells whose numbers are near lie
near each other, and each aligned run of 4^k cells is a square: so a prefix is a square or two.

Source: D. Hilbert, Ueber die stetige Abbildung einer Linie auf ein Flächenstück, Mathematische
Annalen 38 (1891); the steps come from Warren, Hacker's Delight, 2nd edition, chapter 16.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
_ONE, _THREE = np.uint64(1), np.uint64(3)


def points(cells: U64, order: int) -> tuple[U64, U64]:
    """Return the columns and the rows of cells, each of shape (n,) and from 0 to 2^order - 1."""
    x, y = np.zeros_like(cells), np.zeros_like(cells)
    for level in range(order):
        quarter = cells >> np.uint64(2 * level) & _THREE
        right = quarter >> _ONE
        down = (quarter ^ right) & _ONE
        x, y = _turned(x, y, right, down, level)
        x += right << np.uint64(level)
        y += down << np.uint64(level)
    return x, y


def _turned(x: U64, y: U64, right: U64, down: U64, level: int) -> tuple[U64, U64]:
    """Return the positions within a quarter of 2^level cells a side, as its own curve has them."""
    last = np.uint64((1 << level) - 1)
    mirrored = (right & ~down & _ONE).astype(bool)
    x, y = np.where(mirrored, last - x, x), np.where(mirrored, last - y, y)
    swapped = down == 0
    return np.where(swapped, y, x), np.where(swapped, x, y)
