"""Maps of the world and their countries: the content of the section."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from geolookup.pictures.world import Country, CountryDensity, Density
from geolookup.reports.page import page
from geolookup.reports.section import Section
from geolookup.reports.world_map import world_section
from tests.pictures.unpacking import unpack_floats
from tests.skips import needs

pytestmark = needs("jinja2", "vl_convert")
_BERLIN, _SUVA = (52.52, 13.405), (-18.14, 178.44)


def _density(places: list[tuple[float, float, float]], name: str = "requests") -> Density:
    latitudes, longitudes, weights = np.array(places, float).T
    return Density(name, name.title(), name, latitudes, longitudes, weights)


def test_what_is_hidden_and_nothing_and_two_maps() -> None:
    places = [(*_BERLIN, 4.0), (*_SUVA, 5.0), (0.0, 0.0, 6.0)]
    section = world_section("world", "World", [_density(places)], least=5)
    data: Any = section.data["world-map"]
    assert unpack_floats(data["densities"][0]["weights"]).tolist() == [6]
    assert section.values["shown"].rows == [("Requests", "6", "40.00 %", "0", "9")]
    for weight in (0.0, 4.0):
        section = world_section("world", "World", [_density([(*_BERLIN, weight)])], least=5)
        assert (section.data, list(section.pictures)) == ({}, [])
        assert "Nothing to show" in page("Title", "", [section])
    maps = [world_section(name, name, [_density([(*_BERLIN, 1)])]) for name in "ab"]
    ids = re.findall(r'<script type="application/json" id="([^"]*)"', page("Title", "", maps))
    assert ids == ["world-outlines", "a-map", "b-map"]  # both draw the same outlines


_ROWS = [
    Country("DE", "Germany", 1000),
    Country("BR", "Brazil </script><b>", 10),
    Country("AU", "Australia", 1),
    Country("RE", "Réunion", 4),
    Country(None, None, 3),
]


def _section(nowhere: float = 99, least: float = 0) -> Section:
    latitudes, weights = np.array([50.0, np.nan]), np.array([10.0, nowhere])
    density = Density("requests", "Requests", "requests", latitudes, latitudes, weights)
    countries = CountryDensity("requests-countries", "Requests by country", "requests", _ROWS)
    return world_section("where", "Where", [density], least=least, countries=countries)


def test_the_table_tells_what_has_no_area_and_what_is_hidden() -> None:
    section = _section(least=5)
    assert section.values["shown"].rows[0] == ("Requests by country", "1,010", "99.21 %", "3", "5")
    assert "Australia" not in str(section.data)
    assert "Réunion" not in str(section.data)
    assert [picture.name for picture in section.pictures] == [
        "where-requests",
        "where-requests-countries",
    ]
