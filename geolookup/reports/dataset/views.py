"""The views of a dataset's address maps: country, finest level, AS, source of the location, age.

Strategy: each interval has a key, such as the row of its country; a view ranks the keys by their
addresses. Special-purpose space is overlaid once: views of one table share their starts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.overlay import Side, blocked_space
from geolookup.contract.fields import COUNTRY, LOCATION, NETWORK
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64, I64, Addresses, Bools, overlay, sizes
from geolookup.dataset.metadata import data_age
from geolookup.pictures import wording
from geolookup.pictures.address_space import View, view_of
from geolookup.reports.dataset.row_names import (
    LEVELS,
    countries,
    finest_levels,
    system_names,
    systems,
)

Tables = Mapping[str, pa.Table]  # by the names of ``contract.fields``
#: The most days of each class of age.
_AGES = (30, 90, 180, 365)
#: The classes of age; the last is for sources without a date.
AGE_CLASSES = (
    *(f"up to {most} days" for most in _AGES),
    f"more than {_AGES[-1]} days",
    "no date stated",
)
#: So many AS have their names, those with the most addresses: names take much of a page.
_NAMED = 3000


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a family's space in which special-purpose space is apart.

    ``intervals``, shape (n,), are intervals of the partition before the cut, ``special`` marks what
    no lookup answers from here, ``weights`` are the sizes as ``intervals.sizes`` has them.
    """

    starts: Addresses
    intervals: I64
    special: Bools
    weights: F64

    @classmethod
    def of(cls, starts: Addresses) -> Partition:
        """Cut a partition at the ends of special-purpose space."""
        blocked, is_blocked = blocked_space(starts.family)
        joint, (in_blocked, intervals) = overlay([blocked, starts])
        return cls(joint, intervals, is_blocked[in_blocked], sizes(joint))

    def totals(self, keys: NDArray[np.integer], count: int) -> F64:
        """Return the public addresses of each of ``count`` keys; the shape of keys is (n,)."""
        public: F64 = self.weights * ~self.special
        return np.bincount(keys, public, count).astype(np.float64)

    def classes(self, keys: NDArray[np.integer]) -> NDArray[np.uint32]:
        """Return the labels' positions where key 0 is unknown and the others stay in order."""
        # Labels: 0 special-purpose, 1 unknown (key 0), 2 and so on the keys from 1.
        return np.where(self.special, 0, keys + 1).astype(np.uint32)

    def rank_keys(self, keys: NDArray[np.integer], count: int) -> tuple[NDArray[np.uint32], I64]:
        """Return the labels' positions, and the keys in the order of labels from the third.

        Key 0 is unknown; the others follow by their number of addresses, and have some.
        """
        totals = self.totals(keys, count)
        totals[0] = 0
        order = np.argsort(-totals, kind="stable")
        order = order[totals[order] > 0]
        # Keys 3 1 2 by weight: ranks 2 3 1 of the keys 1, 2 and 3; keys without addresses are 0.
        rank = np.zeros(count, np.int64)
        rank[order] = np.arange(1, len(order) + 1)
        return self.classes(rank[keys]), order


def dataset_views(
    dataset: Dataset, tables: Tables, family: int, today: dt.date | None = None
) -> list[View]:
    """Return the views of one family of a dataset; ages are relative to ``today`` in UTC.

    ``tables`` are those that ``comparison.values.read_tables`` returns.
    """
    side = Side(dataset, family)
    # Two partitions: of equal answers, and of equal deciding sources.
    answers, decided = Partition.of(side.starts), Partition.of(side.decided)
    locations, networks = (rows[answers.intervals] for rows in (side.locations, side.networks))
    sources = dataset.manifest.metadata().sources
    numbers = side.sources[decided.intervals]
    return [
        _country(answers, locations, tables),
        _depth(answers, locations, tables),
        _as(answers, networks, tables),
        _source(decided, numbers, [source.origin for source in sources]),
        _age(decided, numbers, [_days(source.date, today) for source in sources]),
    ]


def _country(space: Partition, locations: NDArray[np.uint32], tables: Tables) -> View:
    names, places = countries(tables[COUNTRY])
    country = places[tables[LOCATION][COUNTRY].to_numpy()]
    values, order = space.rank_keys(country[locations], len(names))
    labels = [wording.name(names[index]) for index in order.tolist()]
    note = "The country of the location."
    return view_of("country", "Country", note, space.starts, values, labels)


def _depth(space: Partition, locations: NDArray[np.uint32], tables: Tables) -> View:
    levels = finest_levels(tables) + 1
    # Positions 1 to 4 of LEVELS; 0 is the unknown row.
    levels[0] = 0
    note = "The finest level of the location that is known."
    values = space.classes(levels[locations])
    return view_of("depth", "Finest level", note, space.starts, values, LEVELS)


def _as(space: Partition, networks: NDArray[np.uint32], tables: Tables) -> View:
    numbers, keys = systems(tables[NETWORK])
    values, order = space.rank_keys(keys[networks], len(numbers))
    names = system_names(tables[NETWORK], keys, space.totals(networks, len(keys)))
    texts = {key: wording.name(names[key]) for key in order[:_NAMED].tolist()}
    labels = [f"AS{numbers[key]} {texts.get(key, '')}".rstrip() for key in order.tolist()]
    note = "The autonomous system that announces the address."
    return view_of("as", "AS", note, space.starts, values, labels)


def _source(space: Partition, numbers: NDArray[np.uint8], names: Sequence[str]) -> View:
    values, order = space.rank_keys(numbers, len(names) + 1)
    labels = [wording.name(names[number - 1]) for number in order.tolist()]
    note = "The source that decided the location."
    return view_of("source", "Source", note, space.starts, values, labels)


def _age(space: Partition, numbers: NDArray[np.uint8], days: Sequence[int | None]) -> View:
    # Key 0: no source. Then the classes from the youngest.
    values = space.classes(np.array([0, *(age_class(age) + 1 for age in days)])[numbers])
    note = "The age of the source that decided the location, on the day of the report."
    return view_of("age", "Age", note, space.starts, values, AGE_CLASSES)


def age_class(days: int | None) -> int:
    """Return the position of an age in ``AGE_CLASSES``: 45 days are class 1, "up to 90 days"."""
    return len(AGE_CLASSES) - 1 if days is None else int(np.searchsorted(_AGES, days))


def _days(date: str | None, today: dt.date | None) -> int | None:
    return data_age([("", date)], today).days
