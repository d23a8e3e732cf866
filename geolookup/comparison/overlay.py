"""The addresses that two datasets answer, as cells: what is alike in all that is compared.

Strategy: the intervals of both datasets and of both provenances, and what the
special-purpose table blocks, are laid over each other. Each joint interval that
a lookup reaches becomes a cell, weighed by its addresses or by requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.partitions import Starts, overlaid, sizes, starts_of
from geolookup.contract.special import PUBLIC, partition
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, Encoded
from geolookup.errors import REBUILD, DatasetError

FAMILIES = (4, 6)
Rows = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Cells:
    """Columns of one length: rows of both datasets, the sources of the locations, a weight.

    Row 0 is the unknown one, source 0 is none; sources are counted from 1.
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
        """Of which cells OLD knows anything."""
        return (self.old_location > 0) | (self.old_network > 0)

    @property
    def in_new(self) -> NDArray[np.bool_]:
        """Of which cells NEW knows anything."""
        return (self.new_location > 0) | (self.new_network > 0)

    def chosen(self, rows: NDArray[Any]) -> Cells:
        """Return some of the cells, by number or by mask."""
        return Cells(**{name: column[rows] for name, column in self.columns().items()})

    def columns(self) -> dict[str, Rows]:
        """Return the columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def together(several: Sequence[Cells]) -> Cells:
    """Return the cells of several families as one: rows mean the same in both."""
    columns = [cells.columns() for cells in several]
    return Cells(**{name: np.concatenate([each[name] for each in columns]) for name in columns[0]})


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint intervals of one family, and the cells they are, weighed by their sizes.

    ``reached`` numbers those intervals that are cells; a lookup reaches no other.
    """

    starts: Starts
    reached: NDArray[np.int64]
    cells: Cells

    def weighed(self, weights: NDArray[np.float64]) -> Cells:
        """Return the cells with other weights, given by joint interval, without those of none."""
        found = replace(self.cells, weight=weights[self.reached])
        return found.chosen(found.weight > 0)


class Joints:
    """The joint intervals of both families; addresses are located in them as in a dataset."""

    def __init__(self, old: Dataset, new: Dataset) -> None:
        self.families = {family: _joint(old, new, family) for family in FAMILIES}
        ipv4, ipv6 = (self.families[family].starts for family in FAMILIES)
        self.ipv4_starts = ipv4.lows.data
        self.ipv6_highs = np.asarray(ipv6.highs).data
        every = np.arange(len(ipv6), dtype=np.int32)
        self.ipv6_lows = Encoded(every.data, ipv6.lows.data)


def _joint(old: Dataset, new: Dataset, family: int) -> Joint:
    before, after = _Side(old, family), _Side(new, family)
    blocked, is_blocked = _blocked(family)
    # The small ones first, so that the large ones are laid out once.
    partitions = [blocked, before.decided, after.decided, before.starts, after.starts]
    starts, at = overlaid(partitions)
    in_blocked, in_old_decided, in_new_decided, in_old, in_new = at
    cells = Cells(
        old_location=before.locations[in_old],
        new_location=after.locations[in_new],
        old_network=before.networks[in_old],
        new_network=after.networks[in_new],
        old_source=before.sources[in_old_decided],
        new_source=after.sources[in_new_decided],
        weight=sizes(starts),
    )
    known = cells.in_old | cells.in_new
    reached = np.flatnonzero(known & ~is_blocked[in_blocked])
    return Joint(starts, reached, cells.chosen(reached))


class _Side:
    """What is compared of one family of one dataset, checked against its own tables."""

    def __init__(self, dataset: Dataset, family: int) -> None:
        starts, locations, networks = {
            4: (
                Starts(None, np.asarray(dataset.ipv4_starts)),
                dataset.ipv4_locations,
                dataset.ipv4_networks,
            ),
            6: (
                Starts(np.asarray(dataset.ipv6_highs), _decoded(dataset, dataset.ipv6_lows)),
                dataset.ipv6_locations,
                dataset.ipv6_networks,
            ),
        }[family]
        path = dataset.path
        self.starts = _ascending(path, starts)
        self.locations = _within(path, locations, len(starts), len(dataset.locations))
        self.networks = _within(path, networks, len(starts), len(dataset.networks))
        self.decided, sources = _provenance(dataset, family)
        listed = len(dataset.manifest.metadata().sources) + 1
        self.sources = _within(path, sources, len(self.decided), listed)


def _provenance(dataset: Dataset, family: int) -> tuple[Starts, memoryview]:
    """Return the intervals of the provenance, and by interval the location's source."""
    file = dataset.beside(fmt.PROVENANCE[family])
    if family == 4:
        starts = Starts(None, np.asarray(file.view("start", "uint32")))
    else:
        highs = np.asarray(file.view("start_high", "uint64"))
        starts = Starts(highs, _decoded(dataset, file.encoded("start_low", "uint64")))
    if "location" in file:
        return _ascending(file.path, starts), file.view("location", "uint8")
    return _ascending(file.path, starts), memoryview(bytes(len(starts)))


def _decoded(dataset: Dataset, column: Encoded) -> NDArray[np.uint64]:
    values: NDArray[np.uint64] = np.asarray(column.values)
    return values[_within(dataset.path, column.indices, len(column), len(values))]


def _ascending(path: str, starts: Starts) -> Starts:
    if starts.highs is not None and len(starts.highs) != len(starts.lows):
        raise DatasetError(path, "the columns differ in length", REBUILD)
    if not starts.ascending():
        raise DatasetError(path, "the intervals are out of order", REBUILD)
    return starts


def _within(path: str, rows: memoryview, length: int, size: int) -> Rows:
    """Return row numbers of a table as an array, if there are so many and all lie within it."""
    found = np.asarray(rows)
    if len(found) != length:
        raise DatasetError(path, "the columns differ in length", REBUILD)
    if length and found.max() >= size:
        raise DatasetError(path, "an index leads outside its table", REBUILD)
    return found


def _blocked(family: int) -> tuple[Starts, NDArray[np.bool_]]:
    """Return the partition of special-purpose space, and what no lookup answers from here."""
    parts = partition(family)
    is_blocked = np.array([kind != PUBLIC for _, _, kind in parts])
    return starts_of(family, (first for first, _, _ in parts)), is_blocked
