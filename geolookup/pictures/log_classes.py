"""Classes of a logarithmic scale: their lower bounds, and their colours.

Bounds are 1, 2, 5, 10, 20 and so on, 1, 3, 10, 30 and so on, or powers of ten: the finest that make
at most ``MOST`` classes. Of more powers the largest are kept: the first class holds all below them.
Weights from 30 to 700,000 have the bounds 10, 100, 1,000, 10,000 and 100,000.
``reports/assets/world/scale.js`` is the same.
"""

from __future__ import annotations

import numpy as np

from geolookup.dataset.intervals import F64, I64
from geolookup.pictures.colours import SEQUENTIAL

#: More colours are hard to tell apart, and their labels do not fit a phone.
MOST = 7
#: From dark to light, without the darkest: these are hard to see on a dark page.
COLOURS = SEQUENTIAL[16:]
_DIGITS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def class_bounds(weights: F64) -> F64:
    """Return the ascending lower bounds of the classes of positive weights; empty if none."""
    if not len(weights):
        return np.empty(0)
    least, most = float(weights.min()), float(weights.max())
    # A power lower: log10 of a number just below a power may be rounded up to it.
    first, last = int(np.floor(np.log10(least))) - 1, int(np.floor(np.log10(most)))
    for digits in _DIGITS:
        bounds = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
        # From the class of the least weight to the class of the largest.
        used = [bound for bound in bounds if bound <= most]
        used = used[max(0, sum(bound <= least for bound in used) - 1) :]
        if len(used) <= MOST:
            break
    return np.array(used if len(used) <= MOST else [used[0], *used[1 - MOST :]])


def class_colours(classes: int) -> list[str]:
    """Return the colours of classes, the largest weights first: dark to light."""
    if classes == 1:
        return [COLOURS[len(COLOURS) // 3]]
    return [COLOURS[at * (len(COLOURS) - 1) // (classes - 1)] for at in range(classes)]


def class_of(weights: F64, bounds: F64) -> I64:
    """Return the position in ``bounds`` of each weight's class."""
    return np.maximum(np.searchsorted(bounds, weights, side="right") - 1, 0).astype(np.int64)
