"""How much of the address space each row of a dataset answers, read once for all sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from geolookup.comparison.joint_intervals import FAMILIES, Side
from geolookup.comparison.values import read_tables
from geolookup.dataset.coverage import KnownAddresses, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64
from geolookup.dataset.metadata import Metadata
from geolookup.pictures.address_space import View
from geolookup.reports.dataset.views import Partition, dataset_views


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of a dataset, and how much of the address space its rows answer.

    ``space`` has the known public space of each location row, shape (rows,), in the ``UNITS`` of
    ``dataset.intervals``. Row 0 has the space with a known network and no known location.
    """

    metadata: Metadata
    tables: Mapping[str, pa.Table]  # by the names of ``contract.fields``
    coverage: Mapping[str, KnownAddresses]  # by "ipv4" and "ipv6"
    space: Mapping[int, F64]  # by family
    views: Mapping[int, Sequence[View]]  # of the address maps, by family


def read_facts(dataset: Dataset) -> Facts:
    """Read a dataset whole; raises DatasetError for a damaged one."""
    tables = read_tables(dataset)
    return Facts(
        dataset.manifest.metadata(),
        tables,
        known_addresses(dataset.path),
        {family: _known_space(dataset, family) for family in FAMILIES},
        {family: dataset_views(dataset, tables, family) for family in FAMILIES},
    )


def _known_space(dataset: Dataset, family: int) -> F64:
    side = Side(dataset, family)
    answers = Partition.of(side.starts, side.locations, side.networks)
    locations, networks = answers.rows
    known = answers.public * ((locations > 0) | (networks > 0))
    return np.bincount(locations, known, len(dataset.locations)).astype(np.float64)
