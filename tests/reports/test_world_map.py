"""Maps of the world and their countries: the content of the section, and its look in Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geolookup.pictures.globe import HEIGHT, WIDTH, project
from geolookup.pictures.log_classes import class_bounds, class_colours
from geolookup.pictures.world import Country, CountryDensity, DefaultCoordinates, Density, World
from geolookup.reports import world_map
from geolookup.reports.page import page
from geolookup.reports.section import Section
from geolookup.reports.world_map import _notes, world_section
from tests.browser import Reader
from tests.pictures.unpacking import unpack_floats, unpack_integers
from tests.reports.conftest import canvas_point, hover, pixel, projected, steps
from tests.skips import needs

pytestmark = needs("jinja2", "vl_convert", "playwright", "axe_playwright_python")
_BERLIN, _SUVA = (52.52, 13.405), (-18.14, 178.44)
_MAP = 'document.querySelector("[data-world]").worldMap'


def _density(places: list[tuple[float, float, float]], name: str = "requests") -> Density:
    latitudes, longitudes, weights = np.array(places, float).T
    return Density(name, name.title(), name, latitudes, longitudes, weights)


def _many() -> list[Density]:
    rng = np.random.default_rng(17)
    latitudes, longitudes = rng.uniform(-90, 90, 5000), rng.uniform(-180, 180, 5000)
    return [
        Density(name, name, name, latitudes, longitudes, rng.pareto(1, 5000) * scale)
        for name, scale in (("requests", 100), ("networks", 1e15))
    ]


def test_the_data_are_the_sums_of_cells() -> None:
    densities = _many()
    world = World(densities)
    data: Any = world_section("world", "World", densities).data["world-map"]
    assert np.array_equal(unpack_integers(data["cells"]), world.cells)
    assert np.array_equal(unpack_integers(data["columns"]), world.grid.columns)
    for packed, layer in zip(data["densities"], world.layers, strict=True):
        assert np.array_equal(unpack_floats(packed["weights"]), layer.weights)


def test_what_is_hidden_and_nothing_and_two_maps() -> None:
    places = [(*_BERLIN, 4.0), (*_SUVA, 5.0), (0.0, 0.0, 6.0)]
    section = world_section("world", "World", [_density(places)], least=5)
    data: Any = section.data["world-map"]
    assert unpack_floats(data["densities"][0]["weights"]).tolist() == [6]
    assert section.values["shown"].rows == [("Requests", "6", "40.00 %", "0", "9")]
    assert len([*_notes(World([_density(places)]), [])]) == 1  # none of countries
    for weight in (0.0, 4.0):
        section = world_section("world", "World", [_density([(*_BERLIN, weight)])], least=5)
        assert (section.data, list(section.pictures)) == ({}, [])
        assert "Nothing to show" in page("Title", "", [section])
    maps = [world_section(name, name, [_density([(*_BERLIN, 1)])]) for name in "ab"]
    ids = re.findall(r'<script type="application/json" id="([^"]*)"', page("Title", "", maps))
    assert ids == ["world-outlines", "a-map", "b-map"]  # both draw the same outlines


def test_each_density_is_a_picture() -> None:
    from xml.etree import ElementTree as ET

    hostile = _density([(*_BERLIN, 1), (*_SUVA, 100)], "</text><b>&")
    default = DefaultCoordinates("Fiji", "no city", *_SUVA, weight=100, share=1)
    section = world_section("world", "World", [*_many(), hostile], [default])
    drawn = {picture.name: ET.fromstring(picture.svg) for picture in section.pictures}  # noqa: S314
    assert list(drawn) == ["world-requests", "world-networks", "world-</text><b>&"]
    (circle,) = drawn["world-requests"].iter("{http://www.w3.org/2000/svg}circle")
    x, y = project(np.array([_SUVA[0]]), np.array([_SUVA[1]]))
    scale = 1200 / (2 * WIDTH)
    canvas_point = [float(circle.get("cx", 0)), float(circle.get("cy", 0))]
    assert canvas_point == pytest.approx([(x[0] + WIDTH) * scale, (HEIGHT - y[0]) * scale], abs=0.1)


@pytest.mark.long
def test_the_browser_reads_what_python_packed(opened: Callable[[Section], Reader]) -> None:
    densities = _many()
    world = World(densities)
    reader = opened(world_section("world", "World", densities))
    assert reader.page.evaluate(f"[...{_MAP}.cells.cells]") == world.cells.tolist()
    for number, layer in enumerate(world.layers):
        evaluation = reader.page.evaluate(f"[...{_MAP}.layers[{number}].weights]")
        assert np.array_equal(np.array(evaluation, float), layer.weights)
    x, y = project(*world.centres)
    read = [reader.page.evaluate(f"[...{_MAP}.cells.{axis}]") for axis in "xy"]
    assert np.allclose(read, [x, y], atol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ratio", [1, 2])
def test_a_place_is_drawn_and_told_where_it_is(
    opened: Callable[[Section], Reader], scheme: Any, ratio: int
) -> None:
    section = world_section("world", "World", [_density([(*_BERLIN, 12345), (*_SUVA, 5)])])
    reader = opened(section)
    reader.page.emulate_media(color_scheme=scheme)
    reader.page.evaluate(f"Object.defineProperty(window, 'devicePixelRatio', {{value: {ratio}}})")
    reader.page.evaluate(f"{_MAP}.resize()")
    steps(reader)
    colours = section.data["world-map"]["colours"][-1]  # type: ignore[index]
    most, least = (colours[0], colours[-1]) if scheme == "light" else (colours[-1], colours[0])
    for where, colour in ((_BERLIN, most), (_SUVA, least)):
        assert pixel(reader, *canvas_point(reader, *where)) == [*bytes.fromhex(colour[1:]), 255]
    said = hover(reader, *canvas_point(reader, *_BERLIN))
    assert "12,345 requests, 99.96 %" in said
    assert re.match(r"5\d° N, 1\d° E|5\d\.\d° N, 1\d\.\d° E", said)
    assert "no requests" in hover(reader, *canvas_point(reader, 0, 0))


@pytest.mark.long
def test_every_zoom_tells_the_same_sum(opened: Callable[[Section], Reader]) -> None:
    """Squares, then cells: those at a place hold all of it, and all of the map is in some."""
    rng = np.random.default_rng(18)
    places = [(*_BERLIN, 1000.0), *((x, y, 1.0) for x, y in rng.uniform(-60, -10, (200, 2)))]
    reader = opened(world_section("world", "World", [_density(places)]))
    for _ in range(24):
        evaluation = reader.page.evaluate(
            f"[[...{_MAP}.areas.weights].reduce((a, b) => a + b), {_MAP}.areas.constructor.name]"
        )
        assert evaluation[0] == 1200
        x, y = reader.page.evaluate(f"{_MAP}.window.canvas(...{projected(_BERLIN)})")
        assert "1,000 requests" in hover(reader, x, y)
        reader.page.evaluate(f"{_MAP}.zoom(2, {x}, {y})")
        steps(reader)
    assert evaluation[1] == "CellAreas"


@pytest.mark.long
def test_the_keys_do_what_the_pointer_does(opened: Callable[[Section], Reader]) -> None:
    default = DefaultCoordinates("Fiji", "no city", *_SUVA, weight=5, share=0.5)
    densities = [_density([(*_BERLIN, 7), (*_SUVA, 5)]), _density([(*_BERLIN, 9)], "networks")]
    reader = opened(world_section("world", "World", densities, [default]))
    assert "Default coordinates: Fiji, no city, 5 addresses, 50.00 %" in hover(
        reader, *canvas_point(reader, *_SUVA)
    )
    reader.page.focus("canvas")
    reader.page.evaluate(f"{_MAP}.point({projected((52.52, 0))})")
    said = set()
    for _ in range(12):
        reader.page.keyboard.press("ArrowRight")
        said.add(reader.page.locator("output").inner_text())
    assert len(said) > 10
    reader.page.evaluate(f"{_MAP}.point({projected(_BERLIN)})")
    for _ in range(5):
        reader.page.keyboard.press("+")
    assert reader.page.evaluate(f"{_MAP}.window.zoomed") == 32
    reader.page.keyboard.press("ArrowLeft")
    reader.page.keyboard.press("ArrowRight")
    assert "7 requests" in reader.page.locator("output").inner_text()
    reader.page.get_by_label("Requests").focus()
    reader.page.keyboard.press("ArrowRight")
    assert "9 networks" in reader.page.locator("output").inner_text()
    reader.page.focus("canvas")
    reader.page.keyboard.press("-")
    assert reader.page.evaluate(f"{_MAP}.window.zoomed") == 16
    reader.page.keyboard.press("Home")
    assert reader.page.evaluate(f"{_MAP}.window.zoomed") == 1


@pytest.mark.long
def test_wheel_drag_and_buttons_move_the_map(opened: Callable[[Section], Reader]) -> None:
    reader = opened(world_section("world", "World", _many()))
    x, y = canvas_point(reader, *_BERLIN)
    reader.page.hover("canvas", position={"x": x, "y": y})
    reader.page.mouse.wheel(0, -300)
    assert reader.page.evaluate(f"{_MAP}.window.zoomed") == 1  # the page's, without focus
    reader.page.evaluate("scrollTo(0, 0)")
    reader.page.click("canvas", position={"x": x, "y": y})
    reader.page.mouse.wheel(0, -600)
    reader.page.wait_for_function(f"{_MAP}.window.zoomed === 4")
    held = reader.page.evaluate(f"{_MAP}.window.canvas(...{projected(_BERLIN)})")
    assert held == pytest.approx([x, y], abs=2)  # the pointer is at a whole px
    box = reader.page.locator("canvas").bounding_box()
    assert box is not None
    reader.page.mouse.down()
    reader.page.mouse.move(box["x"] + x + 100, box["y"] + y + 40, steps=4)
    reader.page.mouse.up()
    moved = reader.page.evaluate(f"{_MAP}.window.canvas(...{projected(_BERLIN)})")
    assert moved == pytest.approx([x + 100, y + 40], abs=6)
    reader.page.get_by_role("button", name="Zoom out").click()
    assert reader.page.evaluate(f"{_MAP}.window.zoomed") == 2
    reader.page.get_by_role("button", name="Whole map").click()
    assert reader.page.evaluate(f"{_MAP}.window.box.left") == pytest.approx(-WIDTH, abs=0.01)
    reader.check()
    reader.page.set_viewport_size({"width": 400, "height": 800})
    reader.check_width()


@pytest.mark.long
def test_a_pointer_that_moves_paints_no_areas(opened: Callable[[Section], Reader]) -> None:
    reader = opened(world_section("world", "World", _many()))
    reader.page.evaluate(f"""() => {{
      const {{ picture }} = {_MAP}, paint = picture.paintAreas;
      window.painted = 0;
      picture.paintAreas = (...all) => {{ window.painted += 1; paint.apply(picture, all); }};
    }}""")
    reader.page.focus("canvas")
    for latitude in (0, 10, 20):
        hover(reader, *canvas_point(reader, latitude, 10))
        steps(reader)
    assert reader.page.evaluate("painted") == 0
    reader.page.keyboard.press("+")
    steps(reader)
    assert reader.page.evaluate("painted") == 1


_ROWS = [
    Country("DE", "Germany", 1000),
    Country("BR", "Brazil </script><b>", 10),
    Country("AU", "Australia", 1),
    Country("RE", "Réunion", 4),
    Country(None, None, 3),
]
#: In the middle of Germany, Brazil, Australia and Chad.
_PLACES = (50.9, 10.0), (-10.0, -52.0), (-25.0, 134.0), (15.0, 18.5)


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
    assert [picture.name for picture in section.pictures] == ["where-countries"]
    assert section.data


def test_the_table_tells_what_has_no_area_and_what_is_hidden() -> None:
    section = _section(least=5)
    assert section.values["shown"].rows[0] == ("Requests by country", "1,010", "99.21 %", "3", "5")
    assert "Australia" not in str(section.data)
    assert "Réunion" not in str(section.data)
    assert [picture.name for picture in section.pictures] == [
        "where-requests",
        "where-requests-countries",
    ]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_country_is_filled_and_named(opened: Callable[[Section], Reader], scheme: Any) -> None:
    reader = opened(_section())
    reader.page.emulate_media(color_scheme=scheme)
    steps(reader)
    # 1 to 1,000 by 1, 3, 10 and so on: 10 is the third of seven classes.
    scale = class_colours(7)[:: -1 if scheme == "light" else 1]
    for where, colour in zip(_PLACES, (scale[-1], scale[2], scale[0]), strict=False):
        assert pixel(reader, *canvas_point(reader, *where)) == [*bytes.fromhex(colour[1:]), 255]
    said = [hover(reader, *canvas_point(reader, *where)) for where in _PLACES]
    assert said[0] == "Germany: 1,000 requests, 98.91 %"
    assert said[1] == "Brazil </script><b>: 10 requests, 0.99 %"
    assert said[3].endswith(": no requests")
    assert reader.page.locator(".world-unit").inner_text() == "requests per country, from"
    reader.page.focus("canvas")
    reader.page.keyboard.press("ArrowRight")
    assert reader.page.locator("output").inner_text().endswith(": no requests")
    reader.page.get_by_label("Requests", exact=True).check()
    steps(reader)
    assert "10 requests, 100.00 %" in hover(reader, *canvas_point(reader, 50, 50))
    reader.check()


@pytest.mark.long
def test_a_country_of_few_is_land(opened: Callable[[Section], Reader]) -> None:
    reader = opened(_section(least=5))
    australia, chad = (pixel(reader, *canvas_point(reader, *_PLACES[at])) for at in (2, 3))
    assert australia == chad
    assert hover(reader, *canvas_point(reader, *_PLACES[2])).endswith(": no requests")
    assert hover(reader, *canvas_point(reader, *_PLACES[1])).startswith("Brazil")


@pytest.mark.long
def test_a_capital_is_told_by_its_country(opened: Callable[[Section], Reader]) -> None:
    """Also where the map is enlarged: the shapes are the whole map's."""
    reader = opened(_section())
    for _ in range(3):
        x, y = reader.page.evaluate(f"{_MAP}.window.canvas(...{projected(_BERLIN)})")
        assert hover(reader, x, y).startswith("Germany")
        reader.page.evaluate(f"{_MAP}.zoom(8, {x}, {y})")
        steps(reader)


@pytest.mark.long
def test_the_classes_of_the_page_are_those_of_the_pictures(
    opened: Callable[[Section], Reader],
) -> None:
    reader = opened(_section())
    script = (Path(world_map.__file__).parent / "assets/world/scale.js").read_text("utf-8")
    for least, most in _EXTENTS:
        actual = reader.page.evaluate(
            f"([a, b]) => {{ {script}\n return classBounds(a, b, 7); }}", [least, most]
        )
        assert actual == pytest.approx(class_bounds(np.array([least, most])).tolist()), (
            least,
            most,
        )


_EXTENTS = ((1, 1), (1, 9), (3, 40), (30, 7e5), (99, 1e9), (0.004, 0.9), (0.5, 2e15), (7, 8))
