"""The section on where a dataset locates addresses: densities, and default coordinates."""

from __future__ import annotations

from collections.abc import Iterator

from geolookup.comparison.values import coordinates
from geolookup.contract.fields import LOCATION
from geolookup.dataset.intervals import F64, UNITS
from geolookup.pictures.world import Density
from geolookup.reports.dataset.default_coordinates import find_default_coordinates
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.section import Section
from geolookup.reports.world_map import world_section


def located_section(facts: Facts) -> Section:
    """Return the map of the located addresses and prefixes of a dataset."""
    places = coordinates(facts.tables[LOCATION])
    return world_section("world", "World map", list(_densities(facts, places)),
                         find_default_coordinates(facts, places))  # fmt: skip


def _densities(facts: Facts, places: F64) -> Iterator[Density]:
    latitudes, longitudes = places
    ipv4, ipv6 = (facts.space[family].locations for family in (4, 6))
    yield Density("ipv4", f"IPv4 {UNITS[4]}", UNITS[4], latitudes, longitudes, ipv4.space)
    yield Density("ipv6", f"IPv6 {UNITS[6]}", UNITS[6], latitudes, longitudes, ipv6.space)
    prefixes = (ipv4.prefixes + ipv6.prefixes).astype(float)
    yield Density("prefixes", "Prefixes", "prefixes", latitudes, longitudes, prefixes)
