"""Classes of a logarithmic scale.

Their lower bounds are 1, 2, 5, 10, 20 and so on, 1, 3, 10, 30 and so on, or powers of ten: the
finest that make at most ``MOST`` classes. Of more powers the largest are kept: the first class
holds all below them. Weights from 30 to 700,000 have the bounds 10, 100, 1,000, 10,000 and 100,000.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from geolookup.pictures import wording

#: More colours are hard to tell apart.
MOST = 6
_DIGITS = ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,))


def class_bounds(weights: Sequence[float], least: float = 0) -> list[float]:
    """Return the ascending lower bounds of the classes of positive weights; the first is ``least``.

    No weight is below ``least``.
    """
    if not weights:
        return []
    smallest, largest = min(weights), max(weights)
    # A power lower: log10 of a number just below a power may be rounded up to it.
    powers = range(math.floor(math.log10(smallest)) - 1, math.floor(math.log10(largest)) + 1)
    for digits in _DIGITS:
        bounds = [digit * 10.0**power for power in powers for digit in digits]
        # From the class of the smallest weight to the class of the largest.
        used = [bound for bound in bounds if bound <= largest]
        used = used[max(0, sum(bound <= smallest for bound in used) - 1) :]
        if len(used) <= MOST:
            break
    kept = used if len(used) <= MOST else [used[0], *used[1 - MOST :]]
    return [max(kept[0], least), *kept[1:]]


def class_labels(bounds: Sequence[float], unit: str) -> list[str]:
    """Return the texts of a legend: "10 to 100", "100 to 1k", "1k or more requests"."""
    texts = [wording.tick(bound) for bound in bounds]
    labels = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [*labels, *(f"{text} or more {unit}" for text in texts[-1:])]
