"""How much of the address space each row of a dataset answers, read once for all sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from geolookup.comparison.overlay import FAMILIES, Side
from geolookup.comparison.values import read_tables
from geolookup.dataset.coverage import KnownAddresses, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64
from geolookup.dataset.metadata import Metadata
from geolookup.reports.dataset.views import Partition


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
    """Measure the known space of a family; raises DatasetError if the dataset is damaged."""
    side = Side(dataset, family)
    answers = Partition.of(side.starts, side.locations, side.networks)
    locations, networks = answers.rows
    known = answers.public * ((locations > 0) | (networks > 0))
    of_location = np.bincount(locations, known, len(dataset.locations))
    of_network = np.bincount(networks, known, len(dataset.networks))
    return KnownSpace(family, of_location.astype(np.float64), of_network.astype(np.float64))


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
        {family: known_space(dataset, family) for family in FAMILIES},
    )
