"""What the sections of a dataset's report are made of, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from geolookup.comparison.values import read_tables
from geolookup.dataset.coverage import Known, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.metadata import Metadata
from geolookup.reports.dataset.known_space import KnownSpace, known_space


@dataclass(frozen=True, slots=True)
class Facts:
    """A dataset, its tables, and how much of the address space its rows answer."""

    dataset: Dataset
    metadata: Metadata
    tables: Mapping[str, pa.Table]  # by the names of ``contract.fields``
    known: Mapping[str, Known]  # by "ipv4" and "ipv6"
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
