"""The countries of a map of the world: when they come first, and in Chromium what they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
pytest.importorskip("playwright")
pytest.importorskip("axe_playwright_python")

from geolookup.pictures.world import Density
from geolookup.pictures.world_countries import Country, CountryDensity
from geolookup.pictures.world_frame import COLOURS
from geolookup.reports.section import Section
from geolookup.reports.world_map import world_section
from tests.browser import Reader
from tests.reports.pages import hover, pixel, place, projected, steps

_ROWS = [
    Country("DE", "Germany", 1000),
    Country("BR", "Brazil </script><b>", 10),
    Country("AU", "Australia", 1),
    Country("RE", "Réunion", 4),
    Country(None, None, 3),
]
#: In the middle of Germany, Brazil, Australia and Chad.
_PLACES = (50.9, 10.0), (-10.0, -52.0), (-25.0, 134.0), (15.0, 18.5)

_BERLIN = (52.52, 13.405)
_MAP = 'document.querySelector("[data-world]").worldMap'


def _section(nowhere: float = 99, least: float = 0) -> Section:
    latitudes, weights = np.array([50.0, np.nan]), np.array([10.0, nowhere])
    density = Density("requests", "Requests", "requests", latitudes, latitudes, weights)
    countries = CountryDensity("requests-countries", "Requests by country", "requests", _ROWS)
    return world_section("where", "Where", [density], least=least, countries=countries)


def test_countries_come_first_where_most_has_no_coordinates() -> None:
    for nowhere, first in ((11, "requests-countries"), (10, "requests")):
        section = _section(nowhere)
        data: Any = section.data["where-map"]
        assert data["densities"][0]["name"] == section.values["densities"][0].name == first
    unknown = np.array([np.nan])
    density = Density("some", "Some", "requests", unknown, unknown, np.ones(1))
    countries = CountryDensity("countries", "By country", "requests", _ROWS)
    section = world_section("where", "Where", [density], countries=countries)
    assert [each.name for each in section.pictures] == ["where-countries"]
    assert section.data


def test_the_table_tells_what_has_no_area_and_what_is_hidden() -> None:
    section = _section(least=5)
    assert section.values["shown"].rows[0] == ("Requests by country", "1,010", "3", "5")
    assert "Australia" not in str(section.data)
    assert "Réunion" not in str(section.data)
    assert [each.name for each in section.pictures] == [
        "where-requests",
        "where-requests-countries",
    ]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_country_is_filled_and_named(opened: Callable[[Section], Reader], scheme: Any) -> None:
    reader = opened(_section())
    reader.page.emulate_media(color_scheme=scheme)
    steps(reader)
    scale = COLOURS[::-1] if scheme == "light" else COLOURS
    middle = scale[round((len(scale) - 1) / 3)]
    for where, colour in zip(_PLACES, (scale[-1], middle, scale[0]), strict=False):
        assert pixel(reader, *place(reader, *where)) == [*bytes.fromhex(colour[1:]), 255]
    said = [hover(reader, *place(reader, *where)) for where in _PLACES]
    assert said[0] == "Germany: 1,000 requests, 98.91 %"
    assert said[1] == "Brazil </script><b>: 10 requests, 0.99 %"
    assert said[3].endswith(": no requests")
    assert reader.page.locator(".world-unit").inner_text() == "requests per country"
    reader.page.focus("canvas")
    reader.page.keyboard.press("ArrowRight")
    assert reader.page.locator("output").inner_text().endswith(": no requests")
    reader.page.get_by_label("Requests", exact=True).check()
    steps(reader)
    assert "10 requests, 100.00 %" in hover(reader, *place(reader, 50, 50))
    reader.check()


@pytest.mark.long
def test_a_country_of_few_is_land(opened: Callable[[Section], Reader]) -> None:
    reader = opened(_section(least=5))
    australia, chad = (pixel(reader, *place(reader, *_PLACES[at])) for at in (2, 3))
    assert australia == chad
    assert hover(reader, *place(reader, *_PLACES[2])).endswith(": no requests")
    assert hover(reader, *place(reader, *_PLACES[1])).startswith("Brazil")


@pytest.mark.long
def test_a_capital_is_told_by_its_country(opened: Callable[[Section], Reader]) -> None:
    """Also where the map is enlarged: the shapes are those of the whole map."""
    reader = opened(_section())
    for _ in range(3):
        x, y = reader.page.evaluate(f"{_MAP}.window.canvas(...{projected(_BERLIN)})")
        assert hover(reader, x, y).startswith("Germany")
        reader.page.evaluate(f"{_MAP}.zoom(8, {x}, {y})")
        steps(reader)
