"""How much of the address space each row of a dataset answers, read once for all sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.values import read_tables
from geolookup.contract.address import BITS
from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.dataset.coverage import KnownAddresses, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64, I64
from geolookup.dataset.metadata import Metadata
from geolookup.dataset.public_ranges import U32, Ranges, any_known, public_ranges
from geolookup.prefixes.aggregate import prefixes_of
from geolookup.prefixes.spans import Halves, Spans, join


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The values of the rows of a table, in arrays of the shape (rows,); row 0 is "unknown".

    ``space`` is in the ``UNITS`` of ``dataset.intervals``. An interval has one answer;
    ``prefixes`` are the fewest aligned prefixes that make the intervals.
    """

    space: F64
    intervals: I64
    prefixes: I64

    @classmethod
    def empty(cls, rows: int) -> RowCounts:
        """Return counts of 0."""
        return cls(np.zeros(rows), np.zeros(rows, np.int64), np.zeros(rows, np.int64))

    def add(self, rows: U32, space: F64, prefixes: I64) -> None:
        """Add intervals, each given by its row, its space and its number of prefixes."""
        size = len(self.space)
        self.space[:] += np.bincount(rows, space, size)
        self.intervals[:] += np.bincount(rows, minlength=size)
        # bincount sums weights as floats: exact below 2^53.
        self.prefixes[:] += np.bincount(rows, prefixes, size).astype(np.int64)


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """The known public space of a family, counted in three ways."""

    family: int
    locations: RowCounts
    networks: RowCounts
    lengths: I64  # prefixes by their length in bits, from 0; adjacent answers are not joined

    @property
    def space(self) -> float:
        """All of it, in the unit of the family."""
        return float(self.locations.space.sum())


def known_space(dataset: Dataset, family: int) -> KnownSpace:
    """Count the known space of a family; reads each interval once, in constant memory.

    Raises DatasetError if the dataset is damaged.
    """
    locations = RowCounts.empty(len(dataset.locations))
    networks = RowCounts.empty(len(dataset.networks))
    lengths = np.zeros(BITS[family] + 1, np.int64)
    for batch in public_ranges(dataset, family, selector=any_known):
        prefixes, of = prefixes_of(_spans(batch))
        lengths += np.bincount(prefixes.lengths, minlength=len(lengths))
        # Prefixes by interval; an interval belongs to one row of each table.
        counts, space = np.bincount(of, minlength=len(batch.first_low)), space_of(batch)
        locations.add(batch.rows[LOCATION], space, counts)
        networks.add(batch.rows[NETWORK], space, counts)
    return KnownSpace(family, locations, networks, lengths)


def prefix_counts(dataset: Dataset, family: int, groups: I64) -> I64:
    """Return the number of prefixes of each group of network rows, adjacent ranges joined.

    ``groups``, shape (rows of the network table,), numbers the groups from 0.
    """
    counts = np.zeros(int(groups.max(initial=0)) + 1, np.int64)
    batches = (
        _spans(batch, groups[batch.rows[NETWORK]].astype(np.int32))
        for batch in public_ranges(dataset, family, selector=any_known)
    )
    for spans in join(batches):
        _, of = prefixes_of(spans)
        counts += np.bincount(spans.codes[0][of], minlength=len(counts))
    return counts


def _spans(batch: Ranges, *codes: NDArray[np.int32]) -> Spans:
    first = Halves(batch.first_high, batch.first_low)
    return Spans(batch.family, first, Halves(batch.last_high, batch.last_low), codes)


def space_of(batch: Ranges) -> F64:
    """Return the sizes of ranges in the unit of their family, for IPv4 exactly."""
    low = batch.last_low - batch.first_low
    # 128-bit difference: the low half borrows 1 where it wraps.
    high = batch.last_high - batch.first_high - (batch.last_low < batch.first_low)
    # Both ends are included, so one address more; as a share of a /64.
    space = low + 1.0 if batch.family == 4 else high + (low + 1.0) * 2.0**-64
    return np.asarray(space, np.float64)


@dataclass(frozen=True, slots=True)
class Facts:
    """A dataset, its tables, and how much of the address space its rows answer."""

    dataset: Dataset
    metadata: Metadata
    tables: Mapping[str, pa.Table]  # by the names of ``contract.fields``
    coverage: Mapping[str, KnownAddresses]  # by "ipv4" and "ipv6"
    space: Mapping[int, KnownSpace]  # by family


def read_facts(dataset: Dataset) -> Facts:
    """Read a dataset whole; raises DatasetError for a damaged one."""
    return Facts(
        dataset,
        dataset.manifest.metadata(),
        read_tables(dataset),
        known_addresses(dataset.path),
        {family: known_space(dataset, family) for family in (4, 6)},
    )
