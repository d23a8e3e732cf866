"""The section on places: a map of the world, and coordinates without a city.

Vendors give addresses that they cannot locate the coordinates of a country's centroid or of a
provider, without the name of a city. Those with the most addresses are rings on the map.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import UNITS
from geolookup.dataset.runs import distinct
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart
from geolookup.pictures.world import Mark, Places, world
from geolookup.progress import stage
from geolookup.reports.dataset.row_names import countries
from geolookup.reports.dataset.views import Facts
from geolookup.reports.section import Section, Table, charts_section

#: The most coordinates without a city.
_MOST = 20
_RING = "coordinates without a city, listed below"
_METHOD = (
    "Coordinates without a city stand for a country or a provider rather than a place, so the "
    "people who use these addresses may be far from the ring."
)


@stage("drawing places")
def places_section(facts: Facts) -> Section:
    """Return the map of the located addresses of a dataset, and coordinates without a city."""
    family = 4 if facts.space[4].any() else 6
    latitudes, longitudes = coordinates(facts.tables[LOCATION])
    places = Places(latitudes, longitudes, facts.space[family])
    located = places.weights[~np.isnan(latitudes)].sum() / (places.weights.sum() or 1)
    known = f"known IPv{family} {UNITS[family]}"
    note = f"{wording.percent(float(located))} of the {known} have coordinates."
    rings = _without_city(facts, places)
    head = ("Country", "latitude", "longitude", UNITS[family])
    rows = [
        (name, *(f"{degrees:.2f}" for degrees in position), wording.count(weight))
        for name, *position, weight in rings
    ]
    table = Table("Coordinates without a city", head, rows)
    chart = _map(facts, family, places, [Mark(*ring[1:3], _RING) for ring in rings])
    return charts_section("world", "World map", note, [chart], details=[table], method=_METHOD)


def _map(facts: Facts, family: int, places: Places, marks: list[Mark]) -> Chart:
    table = facts.tables[COUNTRY]
    of_location = facts.tables[LOCATION][COUNTRY].to_numpy()
    weights = np.bincount(of_location, places.weights, len(table)).tolist()
    by_code = Counter[str]()
    for code, weight in zip(table["country_code"].to_pylist(), weights, strict=True):
        if code:
            by_code[code] += weight
    title = f"IPv{family} {UNITS[family]} by country and place"
    return world("world-map", title, UNITS[family], by_code, places, marks)


def _without_city(facts: Facts, places: Places) -> list[tuple[str, float, float, float]]:
    """Return country, latitude, longitude and addresses of those with the most addresses."""
    locations = facts.tables[LOCATION]
    names, of_row = countries(facts.tables[COUNTRY])
    no_city = np.asarray(locations["city_name"].is_null())
    rows = np.flatnonzero(no_city & ~np.isnan(places.latitudes) & (places.weights > 0))
    columns = of_row[locations[COUNTRY].to_numpy()], places.latitudes, places.longitudes
    # Floats are compared by their bits: equal texts of a source are equal floats.
    pairs = distinct([column[rows].view(np.int64) for column in columns], places.weights[rows])
    country, *degrees = pairs.columns
    latitudes, longitudes = (column.view(np.float64).tolist() for column in degrees)
    return [
        (wording.name(names[country[at]]), latitudes[at], longitudes[at], float(pairs.weight[at]))
        for at in np.argsort(-pairs.weight, kind="stable")[:_MOST].tolist()
    ]
