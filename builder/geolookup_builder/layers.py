"""Sources overlaid: for each layer, the first source that states it decides.

The intervals of a source have a number for each layer (0: unknown). Two partitions are
overlaid; each joint interval takes its number, layer by layer, from the first one that has
one. Sources are overlaid in the order of the recipe.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from geolookup.contract.special import Range
from geolookup.dataset.intervals import I64, Addresses, Bools, cut_at, overlay
from geolookup_builder.factorize import Codes
from geolookup_builder.flatten import Intervals, changes
from geolookup_builder.layer_values import UNKNOWN


@dataclass(frozen=True, slots=True)
class Layered:
    """A gap-free partition of a family with one number per layer and interval."""

    starts: Addresses
    numbers: dict[str, Codes]


def nothing(family: int, layers: tuple[str, ...]) -> Layered:
    """Return one interval over the whole family, unknown in all layers."""
    return Layered(Addresses.of(family, [0]), {layer: np.zeros(1, np.int32) for layer in layers})


def of_source(intervals: Intervals, numbers: dict[str, Codes]) -> Layered:
    """Give each interval the numbers of the row that owns it."""
    # One more entry, so that the owner -1 (a gap) maps to UNKNOWN.
    return Layered(
        intervals.starts,
        {
            layer: np.append(each, np.int32(UNKNOWN))[intervals.owner]
            for layer, each in numbers.items()
        },
    )


def underlay(base: Layered, below: Layered) -> Layered:
    """Fill the layers that are unknown in ``base`` from ``below``."""
    if len(base.starts) == 1 and not any(each[0] for each in base.numbers.values()):
        unknown = np.zeros(len(below.starts), np.int32)
        numbers = {layer: below.numbers.get(layer, unknown) for layer in base.numbers}
        return _coalesce(Layered(below.starts, numbers))
    starts, (of_base, of_below) = overlay([base.starts, below.starts])
    numbers = _taken(base.numbers, of_base)
    for layer in base.numbers.keys() & below.numbers.keys():
        number = numbers[layer]
        numbers[layer] = np.where(number == UNKNOWN, below.numbers[layer][of_below], number)
    return _coalesce(Layered(starts, numbers))


def hide(intervals: Intervals, ranges: Iterable[Range]) -> Intervals:
    """Remove the owner of the space inside the (sorted, disjoint) ranges."""
    bounds, hidden = cut_at(intervals.starts.family, ranges)
    # There are few bounds: they are inserted, without the arrays of an overlay.
    within = intervals.starts.search(bounds) - 1
    fresh = np.flatnonzero(~intervals.starts[within].equals(bounds))
    owner = np.insert(intervals.owner, within[fresh] + 1, intervals.owner[within[fresh]])
    begin = within + np.searchsorted(fresh, np.arange(len(bounds)), side="right")
    for at in np.flatnonzero(hidden).tolist():
        owner[begin[at] : begin[at + 1] if at + 1 < len(bounds) else None] = -1
    return Intervals(_inserted(intervals.starts, within[fresh] + 1, bounds[fresh]), owner)


def _inserted(starts: Addresses, at: I64, values: Addresses) -> Addresses:
    low = np.insert(starts.low, at, values.low)
    if starts.high is None or values.high is None:
        return Addresses(low)
    return Addresses(low, np.insert(starts.high, at, values.high))


def _coalesce(layered: Layered) -> Layered:
    distinct = {id(each): each for each in layered.numbers.values()}
    keep = changes(*distinct.values())
    return Layered(layered.starts[keep], _taken(layered.numbers, keep))


def _taken(numbers: dict[str, Codes], rows: I64 | Bools) -> dict[str, Codes]:
    """Return the numbers at ``rows``; layers that share an array share the result."""
    distinct = {id(each): each for each in numbers.values()}
    found = {key: each[rows] for key, each in distinct.items()}
    return {layer: found[id(each)] for layer, each in numbers.items()}
