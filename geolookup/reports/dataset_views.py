"""What the address maps of a dataset show: country, known depth, AS, source of the location, age.

Strategy: each interval has a key, such as the row of its country; a view ranks the keys by their
addresses. Special-purpose space is overlaid once, so that views of one table share their starts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.overlay import Side, blocked_space
from geolookup.contract import fields
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64, I64, Addresses, Bools, overlay, sizes
from geolookup.dataset.metadata import data_age
from geolookup.pictures import texts
from geolookup.pictures.views import View, view_of
from geolookup.tables.rows import RowTables, row_tables

#: What a location may know at its finest, from the coarsest.
_DEPTHS = ("country", "region", "city")
#: The most days of each class of age.
_AGES = (30, 90, 180, 365)
#: So many AS have their names, those of most addresses; names are large, further AS have numbers.
_NAMED = 3000


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of a family's space in which special-purpose space is apart.

    ``intervals``, shape (n,), are those of the partition that was cut, ``special`` marks what
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
        return np.where(self.special, 0, keys + 1).astype(np.uint32)

    def ranked(self, keys: NDArray[np.integer], count: int) -> tuple[NDArray[np.uint32], I64]:
        """Return the labels' positions, and the keys in the order of labels from the third.

        Key 0 is unknown; the others follow by their number of addresses, and have some.
        """
        totals = self.totals(keys, count)
        totals[0] = 0
        order = np.argsort(-totals, kind="stable")
        order = order[totals[order] > 0]
        rank = np.zeros(count, np.int64)
        rank[order] = np.arange(1, len(order) + 1)
        return self.classes(rank[keys]), order


def dataset_views(dataset: Dataset, family: int, today: dt.date | None = None) -> list[View]:
    """Return the views of one family of a dataset; ages are those of ``today`` in UTC."""
    side, tables = Side(dataset, family), row_tables(dataset)
    answers, decided = Partition.of(side.starts), Partition.of(side.decided)
    locations, networks = (rows[answers.intervals] for rows in (side.locations, side.networks))
    sources = dataset.manifest.metadata().sources
    numbers = side.sources[decided.intervals]
    return [
        _country(answers, locations, tables),
        _depth(answers, locations, tables),
        _as(answers, networks, tables),
        _source(decided, numbers, [each.name for each in sources]),
        _age(decided, numbers, [_days(each.date, today) for each in sources]),
    ]


def _country(space: Partition, locations: NDArray[np.uint32], tables: RowTables) -> View:
    countries = tables.values(fields.LOCATION, fields.COUNTRY).to_numpy()
    codes, names = (
        tables.values(fields.COUNTRY, f"country_{each}").to_pylist() for each in ("code", "name")
    )
    values, order = space.ranked(countries[locations], len(codes))
    labels = [f"{texts.name(names[row])} ({codes[row]})" for row in order.tolist()]
    note = "The country of the location."
    return view_of("country", "Country", note, space.starts, values, labels)


def _depth(space: Partition, locations: NDArray[np.uint32], tables: RowTables) -> View:
    depth = (tables.values(fields.LOCATION, fields.COUNTRY).to_numpy() > 0).astype(np.int64)
    for finer, name in enumerate(("region_name", "city_name"), 2):
        column = tables.values(fields.LOCATION, name)
        depth[column.is_valid().to_numpy(zero_copy_only=False)] = finer
    note = "The finest part of the location that is known."
    values = space.classes(depth[locations])
    return view_of("depth", "Known depth", note, space.starts, values, _DEPTHS)


def _as(space: Partition, networks: NDArray[np.uint32], tables: RowTables) -> View:
    of_row = tables.values(fields.NETWORK, "asn").fill_null(0).to_numpy()
    numbers, keys = np.unique(np.append(of_row, 0), return_inverse=True)
    values, order = space.ranked(keys[networks], len(numbers))
    names = _names(space.totals(networks, len(of_row)), keys[:-1], tables)
    named = {key: texts.name(names[key]) for key in order[:_NAMED].tolist() if key in names}
    labels = [f"AS{numbers[key]} {named.get(key, '')}".rstrip() for key in order.tolist()]
    note = "The autonomous system that announces the address."
    return view_of("as", "AS", note, space.starts, values, labels)


def _names(totals: F64, keys: I64, tables: RowTables) -> dict[int, str]:
    """Return the organisation of each AS by key: that of the row with most addresses."""
    order = np.argsort(-totals, kind="stable")
    distinct, first = np.unique(keys[order], return_index=True)
    organisations = tables.values(fields.NETWORK, "asn_organization").take(order[first])
    found = zip(distinct.tolist(), organisations.to_pylist(), strict=True)
    return {key: name for key, name in found if name}


def _source(space: Partition, numbers: NDArray[np.uint8], names: Sequence[str]) -> View:
    values, order = space.ranked(numbers, len(names) + 1)
    labels = [texts.name(names[number - 1]) for number in order.tolist()]
    note = "The source that decided the location."
    return view_of("source", "Source", note, space.starts, values, labels)


def _age(space: Partition, numbers: NDArray[np.uint8], days: Sequence[int | None]) -> View:
    # Key 0: no source. Then the classes from the youngest; the last is that without a date.
    undated = len(_AGES) + 2
    classes = [undated if each is None else 1 + int(np.searchsorted(_AGES, each)) for each in days]
    values = space.classes(np.array([0, *classes])[numbers])
    limits = [f"up to {most} days" for most in _AGES]
    labels = [*limits, f"more than {_AGES[-1]} days", "no date stated"]
    note = "The age of the source that decided the location, on the day of the report."
    return view_of("age", "Age", note, space.starts, values, labels)


def _days(date: str | None, today: dt.date | None) -> int | None:
    return data_age([("", date)], today).days
