"""The section on where a dataset locates addresses: densities, and default coordinates."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import COUNTRY, LOCATION
from geolookup.dataset.intervals import F64, UNITS
from geolookup.pictures.world import Density, sums_by
from geolookup.pictures.world_countries import Country, CountryDensity
from geolookup.reports.dataset.default_coordinates import find_default_coordinates
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
    found = zip(table["country_code"].to_pylist(), places.tolist(), weights, strict=True)
    rows = [Country(code, names[place], weight) for code, place, weight in found]
    return CountryDensity("ipv4-countries", f"IPv4 {UNITS[4]} by country", UNITS[4], rows)


def _densities(facts: Facts, places: F64) -> Iterator[Density]:
    latitudes, longitudes = places
    ipv4, ipv6 = (facts.space[family].locations for family in (4, 6))
    yield Density("ipv4", f"IPv4 {UNITS[4]}", UNITS[4], latitudes, longitudes, ipv4.space)
    yield Density("ipv6", f"IPv6 {UNITS[6]}", UNITS[6], latitudes, longitudes, ipv6.space)
    prefixes = (ipv4.prefixes + ipv6.prefixes).astype(float)
    yield Density("prefixes", "Prefixes", "prefixes", latitudes, longitudes, prefixes)
