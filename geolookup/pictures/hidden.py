"""Which counts a page hides, so that no reader learns a small one, not even by subtraction.

A page states the sum of what it hides. If that sum is small, the smallest of the other counts is
hidden too.
"""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import F64, I64, Bools


def not_hidden(counts: F64 | I64, least: float) -> Bools:
    """Return which of n counts are shown: those of ``least`` and more, but see ``covered``."""
    return covered(counts >= least, counts, least)


def covered(shown: Bools, counts: F64 | I64, least: float, beside: float = 0) -> Bools:
    """Return which of n counts are shown, so that the others sum to nothing or to ``least``.

    If they would not, the smallest count is hidden too, the last of equal ones. ``beside`` is
    what a reader cannot tell from the hidden counts: a part of the total, but of no count.
    """
    hidden = float(counts[~shown].sum())
    if not 0 < hidden < least - beside or not shown.any():
        return shown
    places = np.flatnonzero(shown)[::-1]
    kept = shown.copy()
    kept[places[counts[places].argmin()]] = False
    return kept
