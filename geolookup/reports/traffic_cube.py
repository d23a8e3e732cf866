"""The counts that the filter of the page needs: by classes of a country and a network.

A class is an offered country, or the rest, with an offered network, or the rest. Classes share no
request, so a country or a network is a sum of classes. ``protect`` hides classes, and cells of
tables by class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geolookup.dataset.intervals import I64, Bools
from geolookup.files.joint_counts import JointCounts
from geolookup.files.summarize import Count, Summary
from geolookup.files.traffic import DAYS, HOSTING, HOURS, STATUSES, Traffic
from geolookup.pictures.page_data import pack_floats, pack_integers
from geolookup.reports.traffic_groups import groups_of, label
from geolookup.reports.traffic_protection import protect
from geolookup.reports.traffic_times import MOST_COLUMNS, shown_counts

#: How many countries and networks are offered; of these the number that shows the most requests.
_OFFERS = (40, 20, 10, 5, 2, 1)
#: The largest cities that the page has for the filter.
_CITIES = 500


@dataclass(frozen=True, slots=True)
class Offer:
    """A country or network that the filter offers."""

    key: object  # its code or number
    label: str


@dataclass(frozen=True, slots=True)
class Cube:
    """Counts by class; -1 is a hidden count.

    ``classes`` has the positions of the country and the network of each class; -1 is the rest.
    ``tables`` have a row for each class.
    """

    countries: Sequence[Offer]
    networks: Sequence[Offer]
    classes: I64  # (n, 2)
    totals: I64  # (n,)
    tables: Mapping[str, I64]
    cities: Sequence[Count]

    def choices(self, axis: int) -> list[tuple[int, str]]:
        """Return the position and label of the countries (axis 0) or networks that have a class."""
        offers = self.networks if axis else self.countries
        numbers = np.unique(self.classes[:, axis]).tolist()
        return [(number, offers[number].label) for number in numbers if number >= 0]

    def of_country(self, table: str, country: int) -> list[int | None]:
        """Return the sums of the shown cells of a country; None if all are hidden."""
        rows = self.tables[table][self.classes[:, 0] == country]
        return [
            int(column[column >= 0].sum()) if (column >= 0).any() else None for column in rows.T
        ]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A property: its counts by pair, the number of values, the first, and which are hidden."""

    joint: JointCounts
    count: int
    first: int
    is_hidden: Bools


def cube_of(summary: Summary, traffic: Traffic, least: int) -> Cube:
    """Return the cube with the number of offers that shows the most requests."""
    axes = _axes(traffic, least)
    cubes = [_cube(summary, traffic, axes, offers, least) for offers in _OFFERS]
    return max(cubes, key=lambda cube: sum(int(t[t > 0].sum()) for t in cube.tables.values()))


def _axes(traffic: Traffic, least: int) -> dict[str, _Axis]:
    buckets = traffic.times.buckets()
    axes = {
        "hours": (traffic.hours.joint, DAYS * HOURS, 0),
        "statuses": (traffic.statuses.joint, len(STATUSES), 0),
        "hosting": (traffic.hosting.joint, len(HOSTING), 0),
    }
    if len(buckets) <= MOST_COLUMNS:
        axes["time"] = (traffic.times.joint, len(buckets), buckets.start)
    return {name: _axis(*axis, least) for name, axis in axes.items()}


def _axis(joint: JointCounts, count: int, first: int, least: int) -> _Axis:
    _, values, counts = joint.rows()
    totals = np.bincount(values - first, counts, count).astype(np.int64)
    hidden = np.array([shown is None for shown in shown_counts(totals, least)], bool)
    # If hidden columns have no request, a reader knows it.
    return _Axis(joint, count, first, hidden & bool(totals[hidden].any()))


def _cube(
    summary: Summary, traffic: Traffic, axes: Mapping[str, _Axis], offers: int, least: int
) -> Cube:
    countries = _offers(summary, "countries", offers, least)
    networks = _offers(summary, "networks", offers, least)
    class_of = _Classes(traffic, countries, networks)
    pairs, _, counts = traffic.hosting.joint.rows()  # each request is of a kind of network
    every = class_of.table(pairs, np.zeros_like(pairs), counts, 1)
    totals = every.reshape(len(countries) + 1, len(networks) + 1)
    is_class = (protect(totals, least) & (totals > 0)).ravel()
    if 0 < totals[-1].sum() < least:
        # A reader could subtract all classes from all requests.
        is_class[:] = False
    tables = {}
    for name, axis in axes.items():
        pairs, values, counts = axis.joint.rows()
        table = class_of.table(pairs, values - axis.first, counts, axis.count)
        own = np.vstack([table[is_class], table[~is_class].sum(axis=0)])
        tables[name] = np.where(protect(own, least, axis.is_hidden), own, -1)[:-1]
    at = np.flatnonzero(is_class)
    country, network = np.divmod(at, len(networks) + 1)
    # The last network is the rest; the rest of the countries has no class.
    network[network == len(networks)] = -1
    classes = np.stack([country, network], axis=1)
    cities = groups_of(summary, "cities", _CITIES, least).top
    return Cube(countries, networks, classes, every.ravel()[at], tables, cities)


def pack(cube: Cube) -> dict[str, Any]:
    """Return a cube for ``assets/traffic/cube.js``."""
    return {
        "countries": [(offer.key, offer.label) for offer in cube.countries],
        "networks": [(offer.key, offer.label) for offer in cube.networks],
        "classes": pack_integers(cube.classes.ravel()),
        # Floats: a packed integer is less than 2^30.
        "totals": pack_floats(cube.totals.astype(np.float64)),
        "tables": {
            name: pack_floats(table.ravel().astype(np.float64))
            for name, table in cube.tables.items()
        },
        # City, region, country code: the members of a city.
        "cities": [
            (city.members[2], label("cities", city), city.addresses) for city in cube.cities
        ],
    }


def _offers(summary: Summary, kind: str, most: int, least: int) -> list[Offer]:
    """Return the largest shown groups; a key of several names is not offered."""
    keys = [group.members[0] for group in summary.by(kind)]
    several = {key for key, following in zip(sorted(keys), sorted(keys)[1:], strict=False)
               if key == following}  # fmt: skip
    groups = groups_of(summary, kind, most, least).top
    return [
        Offer(group.members[0], label(kind, group))
        for group in groups
        if group.members[0] not in several
    ]


class _Classes:
    """The classes of pairs; the last country and the last network are the rest."""

    def __init__(
        self, traffic: Traffic, countries: Sequence[Offer], networks: Sequence[Offer]
    ) -> None:
        self._pairs = traffic.pairs
        self._country_at = _positions(traffic.pairs.countries, countries)
        self._network_at = _positions(traffic.pairs.networks, networks)
        self._networks = len(networks) + 1
        self._count = (len(countries) + 1) * self._networks

    def table(self, pairs: I64, values: I64, counts: I64, columns: int) -> I64:
        """Return counts by class and value, shape (classes, columns)."""
        country, network = self._pairs.split(pairs)
        at = self._country_at[country] * self._networks + self._network_at[network]
        sums = np.bincount(at * columns + values, counts, self._count * columns)
        return sums.reshape(self._count, columns).astype(np.int64)


def _positions(values: Sequence[object], offers: Sequence[Offer]) -> I64:
    """Return the position of each value's offer; the value of number 0 is unknown."""
    position = {offer.key: at for at, offer in enumerate(offers)}
    none = len(offers)
    return np.array([none, *(position.get(value, none) for value in values)], np.int64)
