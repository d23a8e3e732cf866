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

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, I64, UNITS
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart
from geolookup.pictures.world import Mark, Places, world
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.row_names import countries
from geolookup.reports.section import Section, Table, charts_section

NO_CITY, LARGE_SHARE = "no city", "large share"
_MOST = 20
_SHARE, _PAIRS = 0.25, 10
_MARKED = "default coordinates, listed below"
_NOTE = (
    "Default coordinates stand for a country or a provider rather than a place, so the people who "
    "use these addresses may be far from the ring. Two signs are looked for: addresses without a "
    "city, or a quarter of a country with at least ten places."
)


@dataclass(frozen=True, slots=True)
class DefaultCoordinates:
    """Coordinates that stand for a country: rounded to about 1 km, with their addresses."""

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
    family = 4 if facts.space[4].space else 6
    known = facts.space[family].locations
    chart = _map(facts, family, Places(latitudes, longitudes, known), defaults)
    located = float(known[~np.isnan(latitudes)].sum()) / (facts.space[family].space or 1.0)
    note = f"{wording.percent(located)} of the known IPv{family} {UNITS[family]} have coordinates."
    return charts_section(
        "world",
        "World map",
        f"{note} {_NOTE}" if defaults else note,
        [chart],
        details=[_table(defaults)] if defaults else [],
    )


def _map(facts: Facts, family: int, places: Places, defaults: list[DefaultCoordinates]) -> Chart:
    of_location = facts.tables[LOCATION][COUNTRY].to_numpy()
    weights = np.bincount(of_location, places.weights, len(facts.tables[COUNTRY])).tolist()
    by_code: dict[str, float] = {}
    for code, weight in zip(
        facts.tables[COUNTRY]["country_code"].to_pylist(), weights, strict=True
    ):
        if code and weight:
            by_code[code] = by_code.get(code, 0.0) + weight
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
    pairs = _pairs(facts, of_row)
    country, latitudes, longitudes, space, without_city = (
        pairs[name].to_numpy() for name in pairs.column_names
    )
    of_country: F64 = np.bincount(country, space, len(names))[country]
    count = np.bincount(country, minlength=len(names))[country]
    large = (space >= _SHARE * of_country) & (count >= _PAIRS)
    # Without a city: only these addresses. Else all of the pair, if its share is large.
    weights = np.where(without_city > 0, without_city, space * large)
    return [
        DefaultCoordinates(
            names[country[at]],
            NO_CITY if without_city[at] > 0 else LARGE_SHARE,
            round(float(latitudes[at]), 2),
            round(float(longitudes[at]), 2),
            float(weights[at]),
            float(weights[at] / of_country[at]),
        )
        for at in np.argsort(-weights, kind="stable")[:_MOST].tolist()
        if weights[at]
    ]


def _pairs(facts: Facts, of_row: I64) -> pa.Table:
    """Return the distinct pairs of coordinates of each country, with their known addresses."""
    locations = facts.tables[LOCATION]
    latitudes, longitudes = coordinates(locations)
    space = facts.space[4].locations
    columns = {
        "country": of_row[locations[COUNTRY].to_numpy()],
        "latitude": latitudes,
        "longitude": longitudes,
        "space": space,
        "without_city": np.where(np.asarray(locations["city_name"].is_null()), space, 0.0),
    }
    table = pa.table(columns).filter(pa.array(~np.isnan(latitudes) & (space > 0)))
    keys = ["country", "latitude", "longitude"]
    # Floats are compared exactly: equal texts of a source are equal floats.
    sums = table.group_by(keys, use_threads=False).aggregate(
        [("space", "sum"), ("without_city", "sum")]
    )
    return sums.select([*keys, "space_sum", "without_city_sum"])
