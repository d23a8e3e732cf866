"""Two datasets laid over each other: what both answer, by joint interval.

Strategy: the intervals of both datasets, of both provenances and of
special-purpose space are overlaid. In a joint interval all that is compared is
alike. Those that a lookup reaches are kept, with their size or requests as weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK, OWN
from geolookup.contract.special import CARRIES_IPV4, PUBLIC, partition
from geolookup.dataset import layout as fmt
from geolookup.dataset.column_views import EncodedColumn
from geolookup.dataset.files import Dataset, Starts, outside
from geolookup.dataset.intervals import Addresses, is_partition, overlay, sizes
from geolookup.errors import REBUILD, DatasetError

FAMILIES = (4, 6)
Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Answers:
    """What both datasets answer, a row a joint interval, with its weight.

    Rows of the location and network tables (0: unknown), and the number of the source that
    decided the location (from 1; 0: none).
    """

    old_location: Rows
    new_location: Rows
    old_network: Rows
    new_network: Rows
    old_source: Rows
    new_source: Rows
    weight: NDArray[np.float64]

    @property
    def in_old(self) -> NDArray[np.bool_]:
        """Where OLD knows anything."""
        return (self.old_location > 0) | (self.old_network > 0)

    @property
    def in_new(self) -> NDArray[np.bool_]:
        """Where NEW knows anything."""
        return (self.new_location > 0) | (self.new_network > 0)

    def take(self, rows: NDArray[Any]) -> Answers:
        """Return some of the rows, by number or by mask."""
        return Answers(**{name: column[rows] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Rows]:
        """Return the columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def together(several: Sequence[Answers]) -> Answers:
    """Return the answers of several families as one: table rows mean the same in both."""
    columns = [answers.columns() for answers in several]
    return Answers(
        **{name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
    )


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint intervals of one family, and the answers in those that a lookup reaches.

    ``special`` marks the intervals in special-purpose space. ``reached`` are the numbers of the
    other intervals that either dataset knows; ``answers`` has a row for each, weighted by size.
    """

    starts: Addresses
    special: NDArray[np.bool_]
    reached: NDArray[np.int64]
    answers: Answers
    own: OwnAnswers | None

    def weigh(self, weights: NDArray[np.float64]) -> Answers:
        """Return the answers of weight above 0; ``weights`` are by joint interval."""
        answers = replace(self.answers, weight=weights[self.reached])
        return answers.take(answers.weight > 0)


@dataclass(frozen=True, slots=True)
class OwnAnswers:
    """The rows of own columns, 0 for unknown, in the joint intervals where either is known.

    ``reached`` are the numbers of these intervals; special-purpose space is part of them.
    """

    reached: NDArray[np.int64]
    old: Rows
    new: Rows
    weight: NDArray[np.float64]

    def weigh(self, weights: NDArray[np.float64]) -> OwnAnswers:
        """Return them with other weights; these are by joint interval."""
        return replace(self, weight=weights[self.reached])


def joints(old: Dataset, new: Dataset) -> dict[int, Joint]:
    """Return the joint intervals of both families."""
    return {family: _joint(old, new, family) for family in FAMILIES}


def _joint(old: Dataset, new: Dataset, family: int) -> Joint:
    before, after = Side(old, family), Side(new, family)
    blocked, kinds = special_space(family)
    # The fewest intervals first: the union grows as late as possible.
    partitions = [blocked, before.decided, after.decided, before.starts, after.starts]
    # OLD   |----a----|----b----|        joint  |--0--|-1-|--2--|-3-|
    # NEW   |--x--|----y----|-z-|        at of OLD 0 0 1 1, of NEW 0 1 1 2
    starts, at = overlay(partitions)
    in_blocked, in_old_decided, in_new_decided, in_old, in_new = at
    answers = Answers(
        old_location=before.locations[in_old],
        new_location=after.locations[in_new],
        old_network=before.networks[in_old],
        new_network=after.networks[in_new],
        old_source=before.sources[in_old_decided],
        new_source=after.sources[in_new_decided],
        weight=sizes(starts),
    )
    kind = kinds[in_blocked]
    reached = np.flatnonzero((answers.in_old | answers.in_new) & (kind == PUBLIC))
    own = _own_answers(before, after, in_old, in_new, answers.weight, kind != CARRIES_IPV4)
    return Joint(starts, kind != PUBLIC, reached, answers.take(reached), own)


def _own_answers(
    before: Side,
    after: Side,
    in_old: Rows,
    in_new: Rows,
    weight: NDArray[np.float64],
    answers: NDArray[np.bool_],
) -> OwnAnswers | None:
    """Return the rows of own columns in joint intervals that can have any; None without any."""
    if before.own_rows is None and after.own_rows is None:
        return None
    old, new = (
        np.zeros(len(at), np.uint32) if side.own_rows is None else side.own_rows[at]
        for side, at in ((before, in_old), (after, in_new))
    )
    reached = np.flatnonzero(((old > 0) | (new > 0)) & answers)
    return OwnAnswers(reached, old[reached], new[reached], weight[reached])


class Side:
    """One family of one dataset for a comparison, checked against its own tables."""

    def __init__(self, dataset: Dataset, family: int) -> None:
        path, counts = dataset.path, dataset.row_counts()
        self.starts = _partition(path, dataset.starts(family))
        rows = {
            table: _within(path, column, len(self.starts), counts[table])
            for table, column in dataset.row_columns(family).items()
        }
        self.locations, self.networks = rows[LOCATION], rows[NETWORK]
        #: rows of own columns; None without any
        self.own_rows = rows.get(OWN)
        self.decided, sources = _provenance(dataset, family)
        count = len(dataset.manifest.metadata().sources) + 1
        self.sources = _within(path, sources, len(self.decided), count)


def _provenance(dataset: Dataset, family: int) -> tuple[Addresses, memoryview]:
    """Return the intervals of the provenance, and by interval the location's source."""
    file = dataset.beside(fmt.PROVENANCE[family])
    starts = _partition(file.path, Starts(file, family))
    if "location" in file:
        return starts, file.view("location", "uint8")
    # No column: no source decides any location.
    return starts, memoryview(bytes(len(starts)))


def _partition(path: str, starts: Starts) -> Addresses:
    """Return mapped starts as decoded arrays; raises DatasetError unless they are a partition."""
    if len(starts.highs) != len(starts.lows):
        raise DatasetError(path, "the columns differ in length", REBUILD)
    if isinstance(starts.lows, EncodedColumn):
        values, indices = np.asarray(starts.lows.values), starts.lows.indices
        low = values[_within(path, indices, len(indices), len(values))]
        addresses = Addresses(low, np.asarray(starts.highs))
    else:
        addresses = Addresses(np.asarray(starts.lows))
    if not is_partition(addresses):
        raise DatasetError(path, "the intervals are out of order", REBUILD)
    return addresses


def _within(path: str, rows: memoryview, length: int, size: int) -> Rows:
    """Return row numbers of a table as an array, if there are so many and all lie within it."""
    numbers = np.asarray(rows)
    if len(numbers) != length:
        raise DatasetError(path, "the columns differ in length", REBUILD)
    if length and numbers.max() >= size:
        raise outside(path)
    return numbers


def special_space(family: int) -> tuple[Addresses, NDArray[np.uint8]]:
    """Return the partition of special-purpose space, and the kind of each part."""
    parts = partition(family)
    kinds = np.array([kind for _, _, kind in parts], np.uint8)
    return Addresses.of(family, (first for first, _, _ in parts)), kinds


def blocked_space(family: int) -> tuple[Addresses, NDArray[np.bool_]]:
    """Return the partition of special-purpose space, and what no lookup answers from here."""
    starts, kinds = special_space(family)
    return starts, kinds != PUBLIC
