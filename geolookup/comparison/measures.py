"""What changed between pairs of rows: places, networks, fields, kilometres.

Strategy: what is measured comes as distinct pairs of rows, so that each is
compared once; every measure is a sum of the pairs' weights. Countries and time
zones have far fewer pairs than locations, so theirs are summed first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.distinct import distinct
from geolookup.comparison.kilometres import Kilometres, distances, quantiles
from geolookup.comparison.values import CODE, LOCATION_FIELDS, Pair, Values

Bools = NDArray[np.bool_]
F64 = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many; the share is 0 where there are none."""

    count: float
    of: float
    share: float


def share(count: Any, of: Any) -> Share:
    """Return a share, of numbers of any kind."""
    return Share(float(count), float(of), float(count) / float(of) if of else 0.0)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """How many addresses know one field in OLD and in NEW, and what became of it."""

    old: float
    new: float
    null_gained: float  # known in OLD alone
    null_lost: float  # known in NEW alone
    changed: float  # known in both, and not the same


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows of one table, with their weight; those with row 0 included."""

    old: NDArray[Any]
    new: NDArray[Any]
    weight: F64

    def chosen(self, rows: NDArray[Any]) -> Pairs:
        """Return some of the pairs, by number."""
        return Pairs(self.old[rows], self.new[rows], self.weight[rows])

    def through(self, link: Pair) -> Pairs:
        """Return the distinct pairs of rows that these lead to in a linked table."""
        found = distinct([link.old[self.old], link.new[self.new]], self.weight)
        old, new = found.columns
        return Pairs(old, new, found.weight)


@dataclass(frozen=True, slots=True)
class Move:
    """Which pairs can be compared, and which of these moved."""

    compared: Bools
    moved: Bools

    def share(self, weight: F64) -> Share:
        """Return how much of what can be compared moved."""
        return share(weight[self.moved].sum(), weight[self.compared].sum())


class Places:
    """Location pairs and how they moved.

    A region is its code, or its name where one side has no code; what lies in
    another country, or a city in another region, is another one whatever its name.
    ``location`` stands for any of country, region and city.
    """

    def __init__(self, values: Values, pairs: Pairs) -> None:
        self._values, self._pairs = values, pairs
        country = self._move(CODE)
        code, name = (self._move(f"location.region_{each}") for each in ("code", "name"))
        differs = np.where(code.compared, code.moved, name.moved) | country.moved
        compared = code.compared | name.compared
        region = Move(compared, compared & differs)
        named = self._move("location.city_name")
        elsewhere = named.moved | region.moved | country.moved
        city = Move(named.compared, named.compared & elsewhere)
        levels = (country, region, city)
        location = Move(_any(each.compared for each in levels), _any(each.moved for each in levels))
        self.moves = {"location": location, "country": country, "region": region, "city": city}

    def _move(self, path: str) -> Move:
        return move(self._values.place[path], self._pairs)

    def shares(self) -> dict[str, Share]:
        """Return how much moved, by level."""
        return {level: each.share(self._pairs.weight) for level, each in self.moves.items()}

    def kilometres(self) -> Kilometres:
        """Return how far they moved, where both sides have coordinates."""
        pairs = self._pairs
        old = self._values.old_coordinates[:, pairs.old]
        new = self._values.new_coordinates[:, pairs.new]
        return quantiles(distances(old, new), pairs.weight)


def move(values: Pair, pairs: Pairs) -> Move:
    """Compare one field, where both sides know it."""
    old, new = values.old[pairs.old], values.new[pairs.new]
    compared = (old >= 0) & (new >= 0)
    return Move(compared, compared & (old != new))


def _any(masks: Iterable[Bools]) -> Bools:
    found: Bools = np.logical_or.reduce(list(masks))
    return found


def location_changes(values: Values, pairs: Pairs) -> dict[str, FieldChange]:
    """Return what became of each field that a location row leads to, in contract order."""
    found = _changes(values.place, pairs)
    for linked in values.linked:
        found |= _changes(linked.fields, pairs.through(linked.link))
    return {path: found[path] for path in LOCATION_FIELDS}


def network_changes(values: Values, pairs: Pairs) -> dict[str, FieldChange]:
    """Return what became of each field of a network row."""
    return _changes(values.network, pairs)


def _changes(fields: Mapping[str, Pair], pairs: Pairs) -> dict[str, FieldChange]:
    return {path: _change(values, pairs) for path, values in fields.items()}


def _change(values: Pair, pairs: Pairs) -> FieldChange:
    old, new = values.old[pairs.old], values.new[pairs.new]
    kind = (old >= 0) + np.uint8(2) * (new >= 0) + np.uint8(4) * (old != new)
    sums = np.bincount(kind, pairs.weight, minlength=8).tolist()
    # 3: the same, 5: in OLD alone, 6: in NEW alone, 7: another.
    both = sums[3] + sums[7]
    return FieldChange(both + sums[5], both + sums[6], sums[5], sums[6], sums[7])


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is known at all: of the answer's location and network together, or of one of them."""

    old: float
    new: float
    lost: Share  # of what OLD knows
    gained: Share  # of what NEW knows


def coverage(in_old: Bools, in_new: Bools, weight: F64) -> Coverage:
    """Return how much is known, lost and gained, from what is known where."""
    old, new = weight[in_old].sum(), weight[in_new].sum()
    lost, gained = weight[in_old & ~in_new].sum(), weight[in_new & ~in_old].sum()
    return Coverage(float(old), float(new), share(lost, old), share(gained, new))


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What became of the locations that one source decided."""

    source: str
    location: Coverage
    moved: Mapping[str, Share]
    kilometres: Kilometres
    null_gained: Mapping[str, float]  # by field, those that have any


def source_change(source: str, values: Values, pairs: Pairs) -> SourceChange:
    """Measure the location pairs that one source decided."""
    places = Places(values, pairs)
    changes = location_changes(values, pairs)
    return SourceChange(
        source,
        coverage(pairs.old > 0, pairs.new > 0, pairs.weight),
        places.shares(),
        places.kilometres(),
        {path: each.null_gained for path, each in changes.items() if each.null_gained},
    )
