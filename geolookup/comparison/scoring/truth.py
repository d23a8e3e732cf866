"""Ground truth: rows that state the location of ranges, as a partition of the address space.

One form for range files and tables of addresses. Of several truths the first that states
anything about an address decides, as sources of a recipe do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.overlay import FAMILIES
from geolookup.comparison.scoring.places import Places, joined
from geolookup.dataset.intervals import I64, Addresses, overlay

#: The format of a table of addresses.
ADDRESSES = "addresses"
#: As prefix length: the range of a row is no prefix.
NO_PREFIX = -1


@dataclass(frozen=True, slots=True)
class TruthFile:
    """One file of ground truth, and its rows."""

    path: str
    format: str  # a source format of recipes, or "addresses"
    rows: int
    rejected: int  # rows without a valid range or address
    nulled: int  # invalid values, which state nothing


@dataclass(frozen=True, slots=True)
class TruthRows:
    """Rows by number from 1; row 0 is none."""

    family: NDArray[np.uint8]
    length: NDArray[np.int16]  # of the prefix, else NO_PREFIX
    place: I64  # the place that it states; 0: none

    def __len__(self) -> int:
        return len(self.family)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of one family, and the row that decides each interval; 0 is none."""

    starts: Addresses
    row: I64


@dataclass(frozen=True, slots=True)
class Truth:
    """The rows of ground truth, and the intervals that each of them decides."""

    files: Sequence[TruthFile]
    rows: TruthRows
    partitions: Mapping[int, Partition]  # by family
    places: Places

    @property
    def of_addresses(self) -> bool:
        """Whether any file lists single addresses, which no report may show."""
        return any(each.format == ADDRESSES for each in self.files)

    @property
    def of_ranges(self) -> bool:
        """Whether any file lists ranges."""
        return any(each.format != ADDRESSES for each in self.files)


def together(several: Sequence[Truth]) -> Truth:
    """Return several truths as one: the first with a place for an address decides."""
    first, *others = several
    for other in others:
        first = _over(first, other)
    return first


def _over(above: Truth, below: Truth) -> Truth:
    rows = TruthRows(
        np.concatenate([above.rows.family, below.rows.family]),
        np.concatenate([above.rows.length, below.rows.length]),
        np.concatenate([above.rows.place, _after(below.rows.place, len(above.places))]),
    )
    lower = {
        family: Partition(each.starts, _after(each.row, len(above.rows)))
        for family, each in below.partitions.items()
    }
    states = above.rows.place > 0
    partitions = {f: first_stating(states, [above.partitions[f], lower[f]]) for f in FAMILIES}
    places = joined([above.places, below.places])
    return Truth([*above.files, *below.files], rows, partitions, places)


def _after(numbers: I64, count: int) -> I64:
    """Return numbers after ``count`` others; 0 stays 0."""
    return np.where(numbers > 0, numbers + count, 0)


def first_stating(states: NDArray[np.bool_], several: Sequence[Partition]) -> Partition:
    """Overlay partitions: in each interval the first row that states anything decides.

    ``states`` says of the rows of all partitions but the last, by number, whether they do.
    """
    starts, at = overlay([each.starts for each in several])
    row = several[-1].row[at[-1]]
    for each, rows in zip(several[-2::-1], at[-2::-1], strict=True):
        upper = each.row[rows]
        row = np.where(states[upper], upper, row)
    return Partition(starts, row)
