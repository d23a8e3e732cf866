"""What a dataset answers, read once for all sections, and the views of its address maps.

Strategy: each interval has a key, such as the row of its country; a view ranks the keys by their
addresses. Special-purpose space is overlaid once: views of one table share their starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.joint_intervals import FAMILIES, Side, special_space
from geolookup.comparison.values import read_tables
from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK
from geolookup.contract.special import PUBLIC
from geolookup.dataset.coverage import KnownAddresses, known_addresses
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64, Addresses, Bools, join_intervals, sizes
from geolookup.dataset.metadata import Metadata
from geolookup.pictures import wording
from geolookup.pictures.address_space import SPECIAL, UNKNOWN, View, view_of
from geolookup.progress import stage
from geolookup.reports.dataset.row_names import (
    LEVELS,
    countries,
    finest_levels,
    system_names,
    systems,
)

Tables = Mapping[str, pa.Table]  # by the names of ``contract.fields``
Keys = NDArray[np.integer]  # of intervals or rows; 0 is unknown
#: The number of AS with names, those with the most addresses: names take much of a page.
_NAMED = 3000


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a family's space in which special-purpose space is apart.

    Of n intervals ``rows`` are their columns before the cut, ``special`` marks what no lookup
    answers from here, ``public`` are the addresses of the others (as ``intervals.sizes``).
    """

    starts: Addresses
    rows: Sequence[Keys]
    special: Bools
    public: F64

    @classmethod
    def of(cls, starts: Addresses, *columns: Keys) -> Partition:
        """Cut a partition at the ends of special-purpose space."""
        bounds, kinds = special_space(starts.family)
        joint, (at, intervals) = join_intervals([bounds, starts])
        special = (kinds != PUBLIC)[at]
        return cls(
            joint, [column[intervals] for column in columns], special, sizes(joint) * ~special
        )

    def ordered(self, name: str, title: str, note: str, keys: Keys, labels: Sequence[str]) -> View:
        """Return a view with a label for each key from 1, in their order."""
        # Labels: 0 special-purpose, 1 unknown (key 0), 2 and so on the keys from 1.
        values = np.where(self.special, SPECIAL, keys + UNKNOWN).astype(np.uint32)
        return view_of(name, title, note, self.starts, values, labels)

    def ranked(
        self, name: str, title: str, note: str, keys: Keys, label: Callable[[int, int], str],
        count: int,
    ) -> View:  # fmt: skip
        """Return a view with a label for each key that has addresses, the most first.

        ``label`` gets a key and its rank, from 0.
        """
        totals = np.bincount(keys, self.public, count)
        totals[0] = 0
        order = np.argsort(-totals, kind="stable")
        order = order[totals[order] > 0]
        # Keys 3 1 2 by weight: ranks 2 3 1 of the keys 1, 2 and 3; keys without addresses are 0.
        rank = np.zeros(count, np.int64)
        rank[order] = np.arange(1, len(order) + 1)
        labels = [label(key, place) for place, key in enumerate(order.tolist())]
        return self.ordered(name, title, note, rank[keys], labels)


@dataclass(frozen=True, slots=True)
class Facts:
    """The tables of a dataset, and how much of the address space its rows answer.

    ``space`` has the known public space of each location row, shape (rows,), in the ``UNITS`` of
    ``dataset.intervals``. Row 0 has the space with a known network and no known location.
    """

    metadata: Metadata
    tables: Tables
    coverage: Mapping[str, KnownAddresses]  # by "ipv4" and "ipv6"
    space: Mapping[int, F64]  # by family
    views: Mapping[int, Sequence[View]]  # of the address maps, by family


@stage("reading the dataset", "drawing address maps")
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


def dataset_views(dataset: Dataset, tables: Tables, family: int) -> list[View]:
    """Return the views of one family of a dataset.

    ``tables`` are those that ``comparison.values.read_tables`` returns.
    """
    side = Side(dataset, family)
    # Two partitions: of equal answers, and of equal deciding sources.
    answers = Partition.of(side.starts, side.locations, side.networks)
    decided = Partition.of(side.decided, side.sources)
    sources = dataset.manifest.metadata().sources
    return [
        _country(answers, tables),
        _depth(answers, tables),
        _as(answers, tables),
        _source(decided, [wording.name(source.origin) for source in sources]),
    ]


def _country(space: Partition, tables: Tables) -> View:
    names, places = countries(tables[COUNTRY])
    keys = places[tables[LOCATION][COUNTRY].to_numpy()][space.rows[0]]
    note = "The country of the location."
    return space.ranked(
        "country", "Country", note, keys, lambda key, _: wording.name(names[key]), len(names)
    )


def _depth(space: Partition, tables: Tables) -> View:
    # Positions 1 to 4 of LEVELS; 0 is the unknown row.
    levels = finest_levels(tables) + 1
    levels[0] = 0
    note = "The finest level of the location that is known."
    return space.ordered("depth", "Finest level", note, levels[space.rows[0]], LEVELS)


def _as(space: Partition, tables: Tables) -> View:
    numbers, of_row = systems(tables[NETWORK])
    networks = space.rows[1]
    weights = np.bincount(networks, space.public, len(of_row)).astype(np.float64)
    names = system_names(tables[NETWORK], of_row, weights)

    def label(key: int, rank: int) -> str:
        name = wording.name(names[key]) if rank < _NAMED else ""
        return f"AS{numbers[key]} {name}".rstrip()

    note = "The autonomous system that announces the address."
    return space.ranked("as", "AS", note, of_row[networks], label, len(numbers))


def _source(space: Partition, names: Sequence[str]) -> View:
    note = "The source that decided the location."
    return space.ranked(
        "source", "Source", note, space.rows[0], lambda key, _: names[key - 1], len(names) + 1
    )
