"""Several sources laid over one another: per layer the first that knows gives it.

Strategy: one source's intervals carry a number per layer (0: it knows
nothing there). Two such partitions are overlaid; each joint interval takes its
number, layer by layer, from the first that has one. Sources are laid under
what is there, in recipe order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from geolookup.contract.special import Range
from geolookup.dataset.intervals import Addresses, cut_at, overlay
from geolookup_builder.flatten import Intervals, changes
from geolookup_builder.layer_values import NOTHING, Codes


@dataclass(frozen=True, slots=True)
class Layered:
    """A gap-free partition of a family with one number per layer and interval."""

    starts: Addresses
    numbers: dict[str, Codes]


def nothing(family: int, layers: tuple[str, ...]) -> Layered:
    """Return one interval over the whole family that knows nothing."""
    return Layered(Addresses.of(family, [0]), {layer: np.zeros(1, np.int32) for layer in layers})


def of_source(intervals: Intervals, numbers: dict[str, Codes]) -> Layered:
    """Give each interval the numbers of the row that owns it."""
    # One entry more, so that the owner -1 of a gap finds NOTHING.
    return Layered(
        intervals.starts,
        {
            layer: np.append(each, np.int32(NOTHING))[intervals.owner]
            for layer, each in numbers.items()
        },
    )


def underlay(base: Layered, below: Layered) -> Layered:
    """Fill what ``base`` does not know, layer by layer, from ``below``."""
    if len(base.starts) == 1 and not any(each[0] for each in base.numbers.values()):
        blank = np.zeros(len(below.starts), np.int32)
        numbers = {layer: below.numbers.get(layer, blank) for layer in base.numbers}
        return _coalesce(Layered(below.starts, numbers))
    starts, (of_base, of_below) = overlay([base.starts, below.starts])
    numbers = {}
    for layer, known in base.numbers.items():
        number = known[of_base]
        if layer in below.numbers:
            number = np.where(number == NOTHING, below.numbers[layer][of_below], number)
        numbers[layer] = number
    return _coalesce(Layered(starts, numbers))


def hide(intervals: Intervals, ranges: Iterable[Range]) -> Intervals:
    """Take the owner from everything inside the (sorted, disjoint) ranges."""
    bounds, hidden = cut_at(intervals.starts.family, ranges)
    starts, (of_interval, of_bound) = overlay([intervals.starts, bounds])
    return Intervals(starts, np.where(hidden[of_bound], -1, intervals.owner[of_interval]))


def _coalesce(layered: Layered) -> Layered:
    keep = changes(*layered.numbers.values())
    return Layered(
        layered.starts[keep], {layer: each[keep] for layer, each in layered.numbers.items()}
    )
