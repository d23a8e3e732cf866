"""The section on places: a map of the world, and default coordinates.

Default coordinates stand for a country or a provider rather than for a place: vendors give
addresses that they cannot locate the coordinates of a centroid. Two signs are looked for, at each
distinct pair of coordinates of a country, by IPv4 addresses:

* *no city*: addresses lie there whose location has no city name;
* *large share*: at least a quarter of the addresses of the country with coordinates lie there, and
  the country has at least ten such pairs.

Of the first kind only the addresses without a city count. Those with the most addresses are shown.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import UNITS
from geolookup.dataset.runs import distinct
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart
from geolookup.pictures.world import Mark, Places, world
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.row_names import countries
from geolookup.reports.section import Section, Table, charts_section

_MOST = 20
_SHARE, _PAIRS = 0.25, 10
_MARKED = "default coordinates, listed below"
_METHOD = (
    "Default coordinates stand for a country or a provider rather than a place, so the people who "
    "use these addresses may be far from the ring. Two signs are looked for: addresses without a "
    "city, or a quarter of a country with at least ten places."
)


class DefaultCoordinates(NamedTuple):
    """Coordinates that stand for a country, with their addresses."""

    name: str
    reason: str
    latitude: float
    longitude: float
    addresses: float
    share: float  # of the country's addresses with coordinates


def places_section(facts: Facts) -> Section:
    """Return the map of the located addresses of a dataset, and its default coordinates."""
    latitudes, longitudes = coordinates(facts.tables[LOCATION])
    defaults = find_default_coordinates(facts)
    family = 4 if facts.space[4].any() else 6
    known = facts.space[family]
    chart = _map(facts, family, Places(latitudes, longitudes, known), defaults)
    located = float(known[~np.isnan(latitudes)].sum() / (known.sum() or 1.0))
    note = f"{wording.percent(located)} of the known IPv{family} {UNITS[family]} have coordinates."
    listed = [_table(defaults)] if defaults else []
    method = _METHOD if defaults else ""
    return charts_section("world", "World map", note, [chart], details=listed, method=method)


def _map(facts: Facts, family: int, places: Places, defaults: list[DefaultCoordinates]) -> Chart:
    table = facts.tables[COUNTRY]
    weights = np.bincount(
        facts.tables[LOCATION][COUNTRY].to_numpy(), places.weights, len(table)
    ).tolist()
    by_code = Counter[str]()
    for code, weight in zip(table["country_code"].to_pylist(), weights, strict=True):
        if code:
            by_code[code] += weight
    marks = [Mark(default.latitude, default.longitude, _MARKED) for default in defaults]
    title = f"IPv{family} {UNITS[family]} by country and place"
    return world("world-map", title, UNITS[family], by_code, places, marks)


def _table(defaults: list[DefaultCoordinates]) -> Table:
    rows = [
        (
            wording.name(default.name),
            default.reason,
            f"{default.latitude:.2f}, {default.longitude:.2f}",
            wording.count(default.addresses),
            wording.percent(default.share),
        )
        for default in defaults
    ]
    head = ("Country", "sign", "latitude, longitude", "IPv4 addresses", "of the country")
    return Table("Default coordinates", head, rows, words=(1,))


def find_default_coordinates(facts: Facts) -> list[DefaultCoordinates]:
    """Return those with the most IPv4 addresses."""
    names, of_row = countries(facts.tables[COUNTRY])
    locations, space = facts.tables[LOCATION], facts.space[4]
    latitudes, longitudes = coordinates(locations)
    located = np.flatnonzero(~np.isnan(latitudes) & (space > 0))
    columns = of_row[locations[COUNTRY].to_numpy()], latitudes, longitudes
    # Floats are compared by their bits: equal texts of a source are equal floats.
    pairs = distinct([column[located].view(np.int64) for column in columns], space[located])
    country, *degrees = pairs.columns
    latitude, longitude = (column.view(np.float64).tolist() for column in degrees)
    no_city = space[located] * np.asarray(locations["city_name"].is_null())[located]
    without_city = np.bincount(pairs.of_row, no_city, len(country))
    of_country = np.bincount(country, pairs.weight, len(names))[country]
    count = np.bincount(country, minlength=len(names))[country]
    large = (pairs.weight >= _SHARE * of_country) & (count >= _PAIRS)
    # Without a city: only these addresses. Else all of the pair, if its share is large.
    weights = np.where(without_city > 0, without_city, pairs.weight * large)
    return [
        DefaultCoordinates(
            names[country[at]],
            "no city" if without_city[at] else "large share",
            latitude[at],
            longitude[at],
            float(weights[at]),
            float(weights[at] / of_country[at]),
        )
        for at in np.argsort(-weights, kind="stable")[:_MOST].tolist()
        if weights[at]
    ]
