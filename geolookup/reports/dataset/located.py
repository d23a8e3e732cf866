"""The section on where a dataset locates addresses: densities, and default coordinates.

Default coordinates stand for a country or a provider rather than for a place: vendors give
addresses that they cannot locate the coordinates of a centroid. Two signs are looked for, at each
distinct pair of coordinates of a country, by IPv4 addresses:

* *no city*: addresses lie there whose location has no city name;
* *large share*: at least a quarter of the addresses of the country with coordinates lie there, and
  the country has at least ten such pairs.

Of the first kind only the addresses without a city count. Those with the most addresses are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, I64, UNITS, Bools
from geolookup.pictures.globe import Grid
from geolookup.pictures.world import (
    SIDES,
    Country,
    CountryDensity,
    DefaultCoordinates,
    Density,
    sums_by,
)
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.row_names import countries
from geolookup.reports.section import Section
from geolookup.reports.world_map import world_section


def located_section(facts: Facts) -> Section:
    """Return the map of the located addresses and prefixes of a dataset."""
    places = coordinates(facts.tables[LOCATION])
    return world_section("world", "World map", list(_densities(facts, places)),
                         find_default_coordinates(facts, places),
                         countries=_by_country(facts))  # fmt: skip


def _by_country(facts: Facts) -> CountryDensity:
    table = facts.tables[COUNTRY]
    names, places = countries(table)
    of_location = facts.tables[LOCATION][COUNTRY].to_numpy()
    weights = sums_by(of_location, facts.space[4].locations.space, len(table)).tolist()
    columns = zip(table["country_code"].to_pylist(), places.tolist(), weights, strict=True)
    rows = [Country(code, names[index], weight) for code, index, weight in columns]
    return CountryDensity("ipv4-countries", f"IPv4 {UNITS[4]} by country", UNITS[4], rows)


def _densities(facts: Facts, places: F64) -> Iterator[Density]:
    latitudes, longitudes = places
    ipv4, ipv6 = (facts.space[family].locations for family in (4, 6))
    yield Density("ipv4", f"IPv4 {UNITS[4]}", UNITS[4], latitudes, longitudes, ipv4.space)
    yield Density("ipv6", f"IPv6 {UNITS[6]}", UNITS[6], latitudes, longitudes, ipv6.space)
    prefixes = (ipv4.prefixes + ipv6.prefixes).astype(float)
    yield Density("prefixes", "Prefixes", "prefixes", latitudes, longitudes, prefixes)


NO_CITY, SHARE = "no city", "large share"
_MOST = 20
_SHARE, _PAIRS = 0.25, 10


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Distinct pairs of coordinates by country; arrays of shape (pairs,)."""

    countries: I64
    places: F64  # shape (2, pairs)
    weights: F64
    without_city: F64

    @property
    def of_country(self) -> F64:
        """The weight of each pair's country."""
        # By country, then by pair.
        return sums_by(self.countries, self.weights, int(self.countries.max(initial=0)) + 1)[
            self.countries
        ]

    def large(self) -> Bools:
        """Mark pairs with a large share of a country of several pairs."""
        pairs = np.bincount(self.countries)[self.countries]
        return (self.weights >= _SHARE * self.of_country) & (pairs >= _PAIRS)


def find_default_coordinates(facts: Facts, places: F64) -> list[DefaultCoordinates]:
    """Return those with the most addresses, at the centres of cells of 1 km.

    ``places``, shape (2, rows), are the coordinates of locations.
    """
    locations = facts.tables[LOCATION]
    without_city = np.asarray(locations["city_name"].is_null())
    names, of_row = countries(facts.tables[COUNTRY])
    country = of_row[locations[COUNTRY].to_numpy()]
    pairs = _pairs(country, places, facts.space[4].locations.space, without_city)
    # Without a city: only these addresses. Else all of the pair, if its share is large.
    weights = np.where(pairs.without_city > 0, pairs.without_city, pairs.weights * pairs.large())
    largest = np.argsort(-weights, kind="stable")[: min(_MOST, int((weights > 0).sum()))]
    latitudes, longitudes = _round(pairs.places[:, largest])
    return [
        DefaultCoordinates(
            names[pairs.countries[at]],
            NO_CITY if pairs.without_city[at] > 0 else SHARE,
            float(latitude),
            float(longitude),
            float(weights[at]),
            float(weights[at] / pairs.of_country[at]),
        )
        for at, latitude, longitude in zip(largest, latitudes, longitudes, strict=True)
    ]


def _pairs(countries: I64, places: F64, weights: F64, without_city: Bools) -> _Pairs:
    rows = np.flatnonzero(~np.isnan(places).any(axis=0) & (weights > 0))
    # Floats are compared exactly: equal texts of a source are equal floats.
    keys = np.column_stack([countries[rows], places.T[rows]])
    distinct, of = np.unique(keys, axis=0, return_inverse=True)
    of = of.ravel()
    return _Pairs(
        distinct[:, 0].astype(np.int64),
        distinct[:, 1:].T,
        sums_by(of, weights[rows], len(distinct)),
        sums_by(of, np.where(without_city, weights, 0.0)[rows], len(distinct)),
    )


def _round(places: F64) -> tuple[F64, F64]:
    grid = Grid(SIDES[0])
    return grid.centres(grid.cells(*places))
