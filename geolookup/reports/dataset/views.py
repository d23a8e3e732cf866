"""The views of a dataset's address maps: country, finest level, AS, source of the location, age.

Strategy: each interval has a key, such as the row of its country; a view ranks the keys by their
addresses. Special-purpose space is overlaid once: views of one table share their starts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.joint_intervals import Side, blocked_space
from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64, Addresses, Bools, join_intervals, sizes
from geolookup.dataset.metadata import data_age
from geolookup.pictures import wording
from geolookup.pictures.address_space import SPECIAL, UNKNOWN, View, view_of
from geolookup.reports.dataset.row_names import (
    LEVELS,
    countries,
    finest_levels,
    system_names,
    systems,
)

Tables = Mapping[str, pa.Table]  # by the names of ``contract.fields``
Keys = NDArray[np.integer]  # of intervals or rows; 0 is unknown
#: The most days of each class of age, and the texts; the last is for sources without a date.
_AGES = (30, 90, 180, 365)
_AGE_CLASSES = (
    *(f"up to {most} days" for most in _AGES),
    f"more than {_AGES[-1]} days",
    "no date stated",
)
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
        blocked, is_blocked = blocked_space(starts.family)
        joint, (in_blocked, intervals) = join_intervals([blocked, starts])
        special = is_blocked[in_blocked]
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


def dataset_views(
    dataset: Dataset, tables: Tables, family: int, today: dt.date | None = None
) -> list[View]:
    """Return the views of one family of a dataset; ages are relative to ``today`` in UTC.

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
        _age(decided, [data_age([("", source.date)], today).days for source in sources]),
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


def _age(space: Partition, days: Sequence[int | None]) -> View:
    # Key 0: no source. Then the classes from the youngest: 45 days are class 2, "up to 90 days".
    classes = [len(_AGES) + 1 if age is None else np.searchsorted(_AGES, age) for age in days]
    keys = np.array([0, *(number + 1 for number in classes)])[space.rows[0]]
    note = "The age of the source that decided the location, on the day of the report."
    return space.ordered("age", "Age", note, keys, _AGE_CLASSES)
