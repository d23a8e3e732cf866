"""What moved, in sums that pictures show: by kind, between countries, by distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.changes import KINDS, Changes
from geolookup.comparison.values import CODE, Values
from geolookup.comparison.weighted import F64, distinct

#: The upper ends in km of the classes of distances. A metre or less is rounding: it did not move.
CLASSES_KM = (0.001, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)


@dataclass(frozen=True, slots=True)
class Flow:
    """The weight whose country is ``old`` in OLD and ``new`` in NEW: alpha-2 codes."""

    old: str
    new: str
    weight: float


def by_kind(kinds: NDArray[np.uint8], found: Changes) -> dict[str, float]:
    """Return the weight of each kind of change, of all that either dataset knows."""
    sums = np.bincount(kinds, found.answers.weight, minlength=len(KINDS))
    return dict(zip(KINDS, sums.tolist(), strict=True))


def country_flows(values: Values, found: Changes) -> list[Flow]:
    """Return the weight that moved between each two countries, the greatest first."""
    codes, moved = values.location[CODE], found.moves.by_level["country"].moved
    pairs = found.locations.chosen(moved)
    sums = distinct([codes.old[pairs.old], codes.new[pairs.new]], pairs.weight)
    texts = [] if codes.values is None else codes.values.to_pylist()
    old, new = ([texts[code] for code in column.tolist()] for column in sums.columns)
    flows = map(Flow, old, new, sums.weight.tolist())
    return sorted(flows, key=lambda each: (-each.weight, each.old, each.new))


def by_distance(found: Changes) -> list[float]:
    """Return the weight of each class of distances: one for each end, and one for what is further.

    A distance belongs to the first class whose end it does not exceed. Only the weight with
    coordinates in both datasets counts.
    """
    moved: F64 = found.moves.distances
    known = ~np.isnan(moved)
    classes = np.searchsorted(CLASSES_KM, moved[known])
    weights = found.locations.weight[known]
    sums: list[float] = np.bincount(classes, weights, minlength=len(CLASSES_KM) + 1).tolist()
    return sums
