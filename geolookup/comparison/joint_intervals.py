"""Two datasets laid over each other: what both answer, by joint interval.

Strategy: the intervals of both datasets, of both provenances and of special-purpose space are
joined. All addresses of a joint interval have the same answers and sources. Intervals that a
lookup reaches are kept, weighted by their size or by requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.values import Pair
from geolookup.contract.address import MAX
from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.contract.special import CARRIES_IPV4, PUBLIC, Range, partition
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, Starts, outside
from geolookup.dataset.intervals import (
    F64,
    I64,
    UNIT_ADDRESSES,
    Addresses,
    Bools,
    clamp,
    is_partition,
    join_intervals,
    sizes,
)
from geolookup.errors import REBUILD, DatasetError

FAMILIES = (4, 6)
Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of both datasets, one row per joint interval, with its weight."""

    locations: Pair  # rows of the table; 0: unknown
    networks: Pair
    sources: Pair  # number of the source that decided the location, from 1; 0: none
    weight: F64

    @property
    def in_old(self) -> Bools:
        """Mark the rows about which OLD knows anything."""
        return (self.locations.old > 0) | (self.networks.old > 0)

    @property
    def in_new(self) -> Bools:
        """Mark the rows about which NEW knows anything."""
        return (self.locations.new > 0) | (self.networks.new > 0)

    def take(self, rows: NDArray[Any]) -> Answers:
        """Return some of the rows, by number."""
        locations, networks = self.locations.take(rows), self.networks.take(rows)
        return Answers(locations, networks, self.sources.take(rows), self.weight[rows])


def join_answers(several: Sequence[Answers]) -> Answers:
    """Return the answers of several families as one: table rows mean the same in both."""
    columns = zip(*((of.locations, of.networks, of.sources) for of in several), strict=True)
    locations, networks, sources = (
        Pair(*(np.concatenate([getattr(pair, side) for pair in pairs]) for side in ("old", "new")))
        for pairs in columns
    )
    return Answers(locations, networks, sources, np.concatenate([of.weight for of in several]))


@dataclass(frozen=True, slots=True)
class OwnAnswers:
    """The rows of own columns, 0 for unknown, in the joint intervals where either is known.

    ``reached`` are the numbers of these intervals; special-purpose space is part of them.
    """

    reached: I64
    old: Rows
    new: Rows
    weight: F64


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint intervals of one family, and the answers in those that a lookup reaches.

    ``special`` marks the intervals in special-purpose space. ``reached`` are the numbers of the
    other intervals that either dataset knows; ``answers`` has a row for each.
    """

    starts: Addresses
    special: Bools
    reached: I64
    answers: Answers
    own: tuple[OwnAnswers, ...]  # of the family; none without own columns

    def weigh(self, weights: F64) -> Joint:
        """Return the answers with other weights, by joint interval, without answers of weight 0."""
        rows = np.flatnonzero(weights[self.reached])
        reached = self.reached[rows]
        answers = replace(self.answers.take(rows), weight=weights[reached])
        own = tuple(replace(part, weight=weights[part.reached]) for part in self.own)
        return replace(self, reached=reached, answers=answers, own=own)


def joints(old: Dataset, new: Dataset, *, single_addresses: bool = False) -> dict[int, Joint]:
    """Return the joint intervals of both families, weighted by size.

    IPv6 is in networks of /64, or with ``single_addresses`` in addresses.
    """
    scales = {4: 1.0, 6: UNIT_ADDRESSES[6] if single_addresses else 1.0}
    return {
        family: _joint(JointIntervals(Side(old, family), Side(new, family)), scale)
        for family, scale in scales.items()
    }


def _joint(both: JointIntervals, scale: float) -> Joint:
    weight = scale * sizes(both.starts)
    answers = Answers(both.rows(LOCATION), both.rows(NETWORK), both.sources(LOCATION), weight)
    reached = np.flatnonzero(answers.in_old | answers.in_new)
    own: tuple[OwnAnswers, ...] = ()
    if any(OWN in side.rows for side in both.sides):
        rows = both.rows(OWN)
        at = np.flatnonzero(rows.old | rows.new)
        own = (OwnAnswers(at, rows.old[at], rows.new[at], weight[at]),)
    return Joint(both.starts, both.kinds != PUBLIC, reached, answers.take(reached), own)


class JointIntervals:
    """The joint intervals of one family, in the limits of both sides."""

    def __init__(self, before: Side, after: Side) -> None:
        self.sides = before, after
        special, kinds = special_space(before.starts.family, before.limits)
        # The fewest intervals first: the union grows as late as possible.
        partitions = [special, before.decided, after.decided, before.starts, after.starts]
        # OLD   |----a----|----b----|        joint  |--0--|-1-|--2--|-3-|
        # NEW   |--x--|----y----|-z-|        at of OLD 0 0 1 1, of NEW 0 1 1 2
        self.starts, (of_special, *at) = join_intervals(partitions)
        #: of space, by joint interval
        self.kinds = kinds[of_special]
        self._decided, self._at = Pair(*at[:2]), at[2:]

    def rows(self, table: str) -> Pair:
        """Return the rows of a table; 0 if unknown, or if no lookup answers."""
        has_answers = self.kinds != CARRIES_IPV4 if table == OWN else self.kinds == PUBLIC
        return Pair(
            *(
                side.rows[table][at] * has_answers if table in side.rows else np.zeros_like(at)
                for side, at in zip(self.sides, self._at, strict=True)
            )
        )

    def sources(self, layer: str, part: Any = slice(None)) -> Pair:
        """Return the numbers of the sources of a layer; 0: none.

        ``part`` are numbers of joint intervals, by default all.
        """
        numbers = Pair(*(side.sources_of(layer) for side in self.sides))
        return numbers.through(self._decided.take(part))


class Side:
    """One family of one dataset for a comparison, checked against its own tables.

    ``limits`` are the first and last address that are compared; None: the whole family. The columns
    are read in these limits only, and the first interval of each partition begins with the limit.
    """

    def __init__(self, dataset: Dataset, family: int, limits: Range | None = None) -> None:
        path, counts = dataset.path, dataset.row_counts()
        self.limits = limits or (0, MAX[family])
        starts, columns = dataset.starts(family), dataset.row_columns(family)
        starts.check_lengths(*columns.values())
        self.starts, part = _partition(path, starts, self.limits)
        #: rows by table, by interval of ``starts``; OWN only if the dataset has own columns
        self.rows = {
            table: _within(path, column, part, counts[table]) for table, column in columns.items()
        }
        self.locations, self.networks = self.rows[LOCATION], self.rows[NETWORK]
        self._path, self._file = path, dataset.beside(fmt.PROVENANCE[family])
        self._most = len(dataset.manifest.metadata().sources) + 1
        decided = Starts(self._file, family)
        self._length = len(decided)
        self.decided, self._part = _partition(self._file.path, decided, self.limits)
        self.sources = self.sources_of(LOCATION)

    def sources_of(self, layer: str) -> Rows:
        """Return the number of the source of a layer, by interval of ``decided``; 0: none."""
        if layer not in self._file:  # no source decides it anywhere
            return np.zeros(len(self.decided), np.uint8)
        numbers = self._file.view(layer, "uint8")
        if len(numbers) != self._length:
            raise DatasetError(self._path, "the columns differ in length", REBUILD)
        return _within(self._path, numbers, self._part, self._most)


def _partition(path: str, starts: Starts, limits: Range) -> tuple[Addresses, slice]:
    """Return the mapped starts in limits as decoded arrays, and their part of the columns.

    Raises DatasetError unless they are a partition.
    """
    starts.check_lengths()
    # From the first interval on unless limited: ``is_partition`` then checks that it begins at 0.
    begin = starts.holding(limits[0]) if limits[0] else 0
    part = slice(max(begin, 0), starts.holding(limits[1]) + 1)
    addresses = starts.take(part)
    if limits[0]:
        addresses = clamp(addresses, *limits)
    if not is_partition(addresses, limits[0]):
        raise DatasetError(path, "the intervals are out of order", REBUILD)
    return addresses, part


def _within(path: str, rows: memoryview, part: slice, size: int) -> Rows:
    """Return a part of the row numbers of a table as an array, if all lie within the table."""
    numbers = np.asarray(rows)[part]
    if len(numbers) and numbers.max() >= size:
        raise outside(path)
    return numbers


def special_space(family: int, limits: Range | None = None) -> tuple[Addresses, NDArray[np.uint8]]:
    """Return the partition of special-purpose space in limits, and the kind of each part."""
    least, most = limits or (0, MAX[family])
    parts = [
        (max(first, least), kind)
        for first, last, kind in partition(family)
        if first <= most and last >= least
    ]
    kinds = np.array([kind for _, kind in parts], np.uint8)
    return Addresses.of(family, (first for first, _ in parts)), kinds
