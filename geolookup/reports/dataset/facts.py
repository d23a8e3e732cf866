"""How much of the address space each row of a dataset answers, read once for all sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from geolookup.comparison.values import read_tables
from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.dataset.coverage import KnownAddresses, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64
from geolookup.dataset.metadata import Metadata
from geolookup.dataset.public_ranges import Ranges, any_known, public_ranges


@dataclass(frozen=True, slots=True)
class KnownSpace:
    """The known public space of a family, in the ``UNITS`` of ``dataset.intervals``.

    ``locations`` and ``networks``, shape (rows,), are the space of each row of the table; row 0 is
    unknown.
    """

    family: int
    locations: F64
    networks: F64

    @property
    def space(self) -> float:
        """All of it."""
        return float(self.locations.sum())


def known_space(dataset: Dataset, family: int) -> KnownSpace:
    """Measure the known space of a family; reads each interval once, in constant memory.

    Raises DatasetError if the dataset is damaged.
    """
    locations, networks = np.zeros(len(dataset.locations)), np.zeros(len(dataset.networks))
    for batch in public_ranges(dataset, family, selector=any_known):
        space = space_of(batch)
        locations += np.bincount(batch.rows[LOCATION], space, len(locations))
        networks += np.bincount(batch.rows[NETWORK], space, len(networks))
    return KnownSpace(family, locations, networks)


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
