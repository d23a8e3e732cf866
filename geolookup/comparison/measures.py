"""Sums of weighted pairs of table rows: locations, networks, fields, kilometres.

Strategy: the input is distinct pairs of rows, and each pair is compared once. Every measure is a
sum of the pairs' weights. Countries and time zones have far fewer pairs than locations, so their
weights are summed first. Example: two million intervals that answer row 7 in OLD and row 9 in NEW
are one pair (7, 9), whose weight is the number of their addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.joint_intervals import OwnAnswers
from geolookup.comparison.values import CODE, COMPARED, NAMES, Pair, Values, folded
from geolookup.dataset.distances import distances
from geolookup.dataset.intervals import F64, Bools
from geolookup.dataset.runs import Distinct, distinct, factorize

_PERCENTS = (50, 90, 99)
#: A city of the same name in another region is the same place up to this distance.
SAME_CITY_KM = 100


def whole(weight: Any) -> int:
    """Return a weight as a whole number: a part of a /64 counts as one."""
    exact = float(weight)  # NumPy compares none of its numbers with an int of over 64 bits
    return max(round(exact), int(exact > 0))


@dataclass(frozen=True, slots=True)
class Share:
    """A count of a total; the share is exact, and 0 if the total is."""

    count: int
    of: int
    share: float


def share(weight: Any, of: Any) -> Share:
    """Return the share of two weights."""
    return Share(whole(weight), whole(of), float(weight / of) if of else 0.0)


@dataclass(frozen=True, slots=True)
class Kilometres:
    """Quantiles of the distance moved in km, of addresses with coordinates in both datasets.

    p90 is the least distance that at least 90 % of them do not exceed; 0 if there are none.
    """

    of: int  # these addresses
    p50: float
    p90: float
    p99: float
    max: float


def quantiles(moved: F64, weights: F64) -> Kilometres:
    """Return the weighted quantiles of distances in km, without those that are NaN."""
    with_distance = np.flatnonzero(~np.isnan(moved))
    if not len(with_distance):
        return Kilometres(0, 0.0, 0.0, 0.0, 0.0)
    # Distances 1 5 9 with the weights 6 3 1: sums 6 9 10, so p50 is 1 and p90 is 5.
    order = with_distance[np.argsort(moved[with_distance])]
    sums = np.cumsum(weights[order])
    # Multiplied, not divided: whole weights are compared exactly.
    at = [np.searchsorted(sums * 100, sums[-1] * percent) for percent in _PERCENTS]
    p50, p90, p99, most = (float(moved[order[i]]) for i in (*at, -1))
    return Kilometres(whole(sums[-1]), p50, p90, p99, most)


@dataclass(frozen=True, slots=True)
class FieldSums:
    """The weights of addresses with a value of one field in OLD, in NEW and in both; its changes.

    They are whole numbers in results.
    """

    old: float
    new: float
    both: float
    null_gained: float  # a value in OLD only
    null_lost: float  # a value in NEW only
    changed: float  # different values in both

    def whole(self) -> FieldSums:
        """Return the weights as whole numbers."""
        return FieldSums(*map(whole, astuple(self)))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of rows of one table with their weight, including pairs with row 0."""

    old: NDArray[Any]
    new: NDArray[Any]
    weight: F64

    @classmethod
    def of(cls, rows: Distinct) -> Pairs:
        """Return the pairs in the first two columns of distinct rows."""
        return cls(rows.columns[0], rows.columns[1], rows.weight)

    def take(self, rows: NDArray[Any]) -> Pairs:
        """Return some of the pairs, by number."""
        return Pairs(self.old[rows], self.new[rows], self.weight[rows])

    def through(self, link: Pair) -> Pairs:
        """Return the distinct pairs of rows of a linked table, with summed weights."""
        return Pairs.of(distinct([link.old[self.old], link.new[self.new]], self.weight))


class Move(NamedTuple):
    """The pairs with a value in OLD, in NEW; those that can be compared, and that moved: masks."""

    in_old: Bools
    in_new: Bools
    compared: Bools
    moved: Bools

    def share(self, weight: F64) -> Share:
        """Return the share of the comparable weight that moved."""
        return share(weight[self.moved].sum(), weight[self.compared].sum())


@dataclass(frozen=True, slots=True)
class LocationMoves:
    """The moves of location pairs; see ``location_moves``."""

    weight: F64
    distances: F64  # in km, by pair; NaN without coordinates on both sides
    by_level: Mapping[str, Move]
    by_name: Mapping[str, Move]  # by path of ``NAMES``

    def take(self, rows: NDArray[Any]) -> LocationMoves:
        """Return the moves of some of the pairs, by number."""
        by_level, by_name = (
            {name: Move(*(mask[rows] for mask in move)) for name, move in moves.items()}
            for moves in (self.by_level, self.by_name)
        )
        return LocationMoves(self.weight[rows], self.distances[rows], by_level, by_name)

    def shares(self) -> dict[str, Share]:
        """Return the share that moved, by level."""
        return {level: move.share(self.weight) for level, move in self.by_level.items()}

    def kilometres(self) -> Kilometres:
        """Return the quantiles of the distances."""
        return quantiles(self.distances, self.weight)


def location_moves(values: Values, pairs: Pairs) -> LocationMoves:
    """Return at which level each location pair moved.

    A city moved if its name or its country differs, or if its region differs and both sides have
    coordinates more than 100 km apart: sources divide countries into regions in different ways, so
    a region does not make another city. A region moved if the country or its code differs; its
    name decides if one side has no code. Names are compared without case, accents and punctuation.
    The level ``location`` is any of country, region and city.
    """
    far = distances(values.old_coordinates[:, pairs.old], values.new_coordinates[:, pairs.new])
    country = move(values.location[CODE], pairs)
    code = move(values.location["location.region_code"], pairs)
    by_name = {path: _name_move(values.location[path], pairs) for path in NAMES}
    name, city_name = by_name.values()
    compared = code.compared | name.compared
    differs = np.where(code.compared, code.moved, name.moved) | country.moved
    region = _move(code.in_old | name.in_old, code.in_new | name.in_new, compared, differs)
    elsewhere = city_name.moved | country.moved | (region.moved & (far > SAME_CITY_KM))
    city = city_name._replace(moved=city_name.compared & elsewhere)
    location = Move(*map(np.logical_or.reduce, zip(country, region, city, strict=True)))
    levels = {"location": location, "country": country, "region": region, "city": city}
    return LocationMoves(pairs.weight, far, levels, by_name)


def move(values: Pair, pairs: Pairs) -> Move:
    """Compare one field of the pairs with a value on both sides."""
    old, new = values.old[pairs.old], values.new[pairs.new]
    return _move(old >= 0, new >= 0, (old >= 0) & (new >= 0), old != new)


def _move(in_old: Bools, in_new: Bools, compared: Bools, differs: Bools) -> Move:
    return Move(in_old, in_new, compared, compared & differs)


def _name_move(names: Pair, pairs: Pairs) -> Move:
    """Compare names folded. Only names of pairs that differ are folded: few of a dataset's."""
    exact = move(names, pairs)
    differing = pairs.take(np.flatnonzero(exact.moved))
    codes = np.concatenate([names.old[differing.old], names.new[differing.new]])
    numbers, first = factorize([codes])
    before, after = np.split(folded(names.values.take(codes[first]))[numbers], 2)
    moved = exact.moved.copy()
    moved[moved] = before != after
    return exact._replace(moved=moved)


def field_sums(values: Values, locations: Pairs, networks: Pairs) -> dict[str, FieldSums]:
    """Return the weights of each field by path, in contract order."""
    sums = _sums(values.location, locations) | _sums(values.network, networks)
    for table in values.linked:
        sums |= _sums(table.fields, locations.through(table.link))
    return {path: sums[path] for path in COMPARED}


def own_sums(values: Mapping[str, Pair], answers: Sequence[OwnAnswers]) -> dict[str, FieldSums]:
    """Return the weights of each own column, from the answers of one family or several."""
    old, new, weight = (
        np.concatenate([getattr(part, name) for part in answers])
        for name in ("old", "new", "weight")
    )
    return _sums(values, Pairs.of(distinct([old, new], weight)))


def _sums(fields: Mapping[str, Pair], pairs: Pairs) -> dict[str, FieldSums]:
    return {path: _sums_of(values, pairs) for path, values in fields.items()}


def _sums_of(values: Pair, pairs: Pairs) -> FieldSums:
    old, new = values.old[pairs.old], values.new[pairs.new]
    # Bits: 1 a value in OLD, 2 a value in NEW, 4 they differ.
    kind = (old >= 0) + np.uint8(2) * (new >= 0) + np.uint8(4) * (old != new)
    sums = np.bincount(kind, pairs.weight, minlength=8).tolist()
    # 3: the same value, 5: a value in OLD only, 6: in NEW only, 7: another value.
    both = sums[3] + sums[7]
    return FieldSums(both + sums[5], both + sums[6], both, sums[5], sums[6], sums[7])


@dataclass(frozen=True, slots=True)
class Coverage:
    """The addresses with any known value: of location and network together, or of one of them."""

    old: int
    new: int
    lost: Share  # of those known in OLD
    gained: Share  # of those known in NEW


def coverage(in_old: Bools, in_new: Bools, weight: F64) -> Coverage:
    """Return the weight known, lost and gained, from masks of the answers that each side knows."""
    old, new = weight[in_old].sum(), weight[in_new].sum()
    lost, gained = weight[in_old & ~in_new].sum(), weight[in_new & ~in_old].sum()
    return Coverage(whole(old), whole(new), share(lost, old), share(gained, new))


@dataclass(frozen=True, slots=True)
class SourceChange:
    """The changes of the locations that one source decided."""

    source: str
    location: Coverage
    moved: Mapping[str, Share]
    kilometres: Kilometres
