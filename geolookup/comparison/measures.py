"""Sums of weighted pairs of table rows: locations, networks, fields, kilometres.

Strategy: the input is distinct pairs of rows, and each pair is compared once. Every measure is a
sum of the pairs' weights. Countries and time zones have far fewer pairs than locations, so their
weights are summed first. Example: two million intervals that answer row 7 in OLD and row 9 in NEW
are one pair (7, 9), whose weight is the number of their addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.overlay import OwnAnswers
from geolookup.comparison.values import CODE, LOCATION_FIELDS, Pair, Values
from geolookup.dataset.distances import distances
from geolookup.dataset.runs import distinct

Bools = NDArray[np.bool_]
F64 = NDArray[np.float64]
_PERCENTS = (50, 90, 99)


@dataclass(frozen=True, slots=True)
class Kilometres:
    """Quantiles of the distance moved in km, of addresses with coordinates in both datasets.

    p90 is the least distance that at least 90 % of them do not exceed; 0 if there are none.
    """

    of: float  # the weight of these addresses
    p50: float
    p90: float
    p99: float
    max: float


def quantiles(moved: F64, weights: F64) -> Kilometres:
    """Return the weighted quantiles of distances in km, without those that are NaN."""
    with_distance = np.flatnonzero(~np.isnan(moved))
    if not len(with_distance):
        return Kilometres(0.0, 0.0, 0.0, 0.0, 0.0)
    # Distances 1 5 9 with the weights 6 3 1: sums 6 9 10, so p50 is 1 and p90 is 5.
    order = with_distance[np.argsort(moved[with_distance])]
    passed = np.cumsum(weights[order])
    # Multiplied, not divided: whole weights are compared exactly.
    at = [np.searchsorted(passed * 100, passed[-1] * percent) for percent in _PERCENTS]
    p50, p90, p99, most = (float(moved[order[i]]) for i in (*at, -1))
    return Kilometres(float(passed[-1]), p50, p90, p99, most)


@dataclass(frozen=True, slots=True)
class Share:
    """A count of a total; the share is 0 if the total is."""

    count: float
    of: float
    share: float


def share(count: Any, of: Any) -> Share:
    """Return the share of two numbers of any type."""
    return Share(float(count), float(of), float(count) / float(of) if of else 0.0)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """The number of addresses with a value of one field in OLD and in NEW, and its changes."""

    old: float
    new: float
    null_gained: float  # a value in OLD only
    null_lost: float  # a value in NEW only
    changed: float  # different values in both


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows of one table with their weight, including pairs with row 0."""

    old: NDArray[Any]
    new: NDArray[Any]
    weight: F64

    def take(self, rows: NDArray[Any]) -> Pairs:
        """Return some of the pairs, by number."""
        return Pairs(self.old[rows], self.new[rows], self.weight[rows])

    def through(self, link: Pair) -> Pairs:
        """Return the distinct pairs of rows of a linked table, with summed weights."""
        pairs = distinct([link.old[self.old], link.new[self.new]], self.weight)
        old, new = pairs.columns
        return Pairs(old, new, pairs.weight)


@dataclass(frozen=True, slots=True)
class Move:
    """The pairs that can be compared, and of these the pairs that moved, as masks."""

    compared: Bools
    moved: Bools

    def share(self, weight: F64) -> Share:
        """Return the share of the comparable weight that moved."""
        return share(weight[self.moved].sum(), weight[self.compared].sum())


def region_move(country: Move, code: Move, name: Move) -> Move:
    """Compare regions by code, or by name if one side has no code.

    A region in another country is a different one whatever its name.
    """
    differs = np.where(code.compared, code.moved, name.moved) | country.moved
    compared = code.compared | name.compared
    return Move(compared, compared & differs)


class LocationMoves:
    """Location pairs, and at which level they moved.

    A city in another region is a different one whatever its name. The level ``location`` is any
    of country, region and city.
    """

    def __init__(self, values: Values, pairs: Pairs) -> None:
        self._values, self._pairs = values, pairs
        country = self._move(CODE)
        code, name = self._move("location.region_code"), self._move("location.region_name")
        region = region_move(country, code, name)
        city_name = self._move("location.city_name")
        elsewhere = city_name.moved | region.moved | country.moved
        city = Move(city_name.compared, city_name.compared & elsewhere)
        levels = (country, region, city)
        location = Move(_any(m.compared for m in levels), _any(m.moved for m in levels))
        self.by_level = {"location": location, "country": country, "region": region, "city": city}

    def _move(self, path: str) -> Move:
        return move(self._values.location[path], self._pairs)

    def shares(self) -> dict[str, Share]:
        """Return the share that moved, by level."""
        return {level: move.share(self._pairs.weight) for level, move in self.by_level.items()}

    @cached_property
    def distances(self) -> F64:
        """The distances moved in km, by pair; NaN without coordinates on both sides."""
        old = self._values.old_coordinates[:, self._pairs.old]
        new = self._values.new_coordinates[:, self._pairs.new]
        return distances(old, new)


def move(values: Pair, pairs: Pairs) -> Move:
    """Compare one field of the pairs with a value on both sides."""
    old, new = values.old[pairs.old], values.new[pairs.new]
    compared = (old >= 0) & (new >= 0)
    return Move(compared, compared & (old != new))


def _any(masks: Iterable[Bools]) -> Bools:
    either: Bools = np.logical_or.reduce(list(masks))
    return either


def location_changes(values: Values, pairs: Pairs) -> dict[str, FieldChange]:
    """Return the changes of each field that a location row decides, in contract order."""
    changes = _changes(values.location, pairs)
    for linked in values.linked:
        changes |= _changes(linked.fields, pairs.through(linked.link))
    return {path: changes[path] for path in LOCATION_FIELDS}


def network_changes(values: Values, pairs: Pairs) -> dict[str, FieldChange]:
    """Return the changes of each field of a network row."""
    return _changes(values.network, pairs)


def own_changes(
    values: Mapping[str, Pair], answers: Sequence[OwnAnswers]
) -> dict[str, FieldChange]:
    """Return the changes of each own column, from the answers of one family or several."""
    old, new, weight = (
        np.concatenate([getattr(part, name) for part in answers])
        for name in ("old", "new", "weight")
    )
    pairs = distinct([old, new], weight)
    return _changes(values, Pairs(pairs.columns[0], pairs.columns[1], pairs.weight))


def _changes(fields: Mapping[str, Pair], pairs: Pairs) -> dict[str, FieldChange]:
    return {path: _change(values, pairs) for path, values in fields.items()}


def _change(values: Pair, pairs: Pairs) -> FieldChange:
    old, new = values.old[pairs.old], values.new[pairs.new]
    # Bits: 1 a value in OLD, 2 a value in NEW, 4 they differ.
    kind = (old >= 0) + np.uint8(2) * (new >= 0) + np.uint8(4) * (old != new)
    sums = np.bincount(kind, pairs.weight, minlength=8).tolist()
    # 3: the same value, 5: a value in OLD only, 6: in NEW only, 7: another value.
    both = sums[3] + sums[7]
    return FieldChange(both + sums[5], both + sums[6], sums[5], sums[6], sums[7])


@dataclass(frozen=True, slots=True)
class Coverage:
    """The addresses with any known value: of location and network together, or of one of them."""

    old: float
    new: float
    lost: Share  # of those known in OLD
    gained: Share  # of those known in NEW


def coverage(in_old: Bools, in_new: Bools, weight: F64) -> Coverage:
    """Return the weight known, lost and gained, from masks of what each side knows."""
    old, new = weight[in_old].sum(), weight[in_new].sum()
    lost, gained = weight[in_old & ~in_new].sum(), weight[in_new & ~in_old].sum()
    return Coverage(float(old), float(new), share(lost, old), share(gained, new))


@dataclass(frozen=True, slots=True)
class SourceChange:
    """The changes of the locations that one source decided."""

    source: str
    location: Coverage
    moved: Mapping[str, Share]
    kilometres: Kilometres
    null_gained: Mapping[str, float]  # by field, without zeros


def source_change(source: str, values: Values, pairs: Pairs) -> SourceChange:
    """Measure the location pairs that one source decided."""
    moves = LocationMoves(values, pairs)
    changes = location_changes(values, pairs)
    return SourceChange(
        source,
        coverage(pairs.old > 0, pairs.new > 0, pairs.weight),
        moves.shares(),
        quantiles(moves.distances, pairs.weight),
        {path: change.null_gained for path, change in changes.items() if change.null_gained},
    )
