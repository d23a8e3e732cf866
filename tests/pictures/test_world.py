"""The map of the world: each country is seen, circles are as large as weights, rings are explained.

The positions on the map are those of Equal Earth by its published polynomial.
"""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.internals.pictures import SCALE, WORLD_FILE, Mark, Places, cells, world
from tests.pictures.drawings import fills, parsed, texts, titles
from tests.skips import needs

#: The colour of the class of the largest weights, on a light page and on a dark one.
MOST = SCALE[-1]
CIRCLE = "#e8710a"


def of(rows: list[tuple[float, float, float]]) -> Places:
    return Places(*np.array(rows, float).reshape(-1, 3).T)


def centre(line: str) -> tuple[float, float]:
    """Return the middle of the box of a path's points, in px of the map."""
    points = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", line), float)
    x, y = (points.min(axis=0) + points.max(axis=0)) / 2
    return float(x), float(y)


def projected(latitude: float, longitude: float) -> tuple[float, float]:
    """Return the px of a place (B. Šavrič, T. Patterson, B. Jenny, The Equal Earth, 2018)."""
    a1, a2, a3, a4 = 1.340264, -0.081106, 0.000893, 0.003796
    theta = math.asin(math.sqrt(3) / 2 * math.sin(math.radians(latitude)))
    slope = a1 + 3 * a2 * theta**2 + theta**6 * (7 * a3 + 9 * a4 * theta**2)
    x = 2 / math.sqrt(3) * math.radians(longitude) * math.cos(theta) / slope
    y = theta * (a1 + a2 * theta**2 + theta**6 * (a3 + a4 * theta**2))
    return 400 + 147 * x, 194 - 147 * y


def radii(markup: str, colour: str) -> list[float]:
    """Return the radii of the circles of a colour, in order."""
    matches = [re.match(r"M([\d.]+),0A", line) for fill, line in fills(markup) if fill == colour]
    return [float(match[1]) for match in matches if match]


def places_of(markup: str, fragment: str) -> list[tuple[float, float]]:
    """Return where the shapes are that have a fragment in their tag."""
    tags = [tag for tag in re.findall(r"<path[^>]*>", markup) if fragment in tag]
    matches = [re.search(r"translate\(([\d.-]+),([\d.-]+)\)", tag) for tag in tags]
    return [(float(match[1]), float(match[2])) for match in matches if match]


@needs("vl_convert")
def test_every_country_of_iso_3166_is_visible_by_itself() -> None:
    """By its area or by a circle; but four that have no inhabitants or lie beyond the map."""
    names = json.loads(WORLD_FILE.read_text(encoding="utf-8"))["names"]
    assert len(names) == 250
    markup = world("w", "World", "requests", dict.fromkeys(names, 7)).page_svg()
    seen = {title.removesuffix(": 7") for title in titles(markup)}
    assert {code for code, name in names.items() if name not in seen} == {"AQ", "BV", "HM", "UM"}


@needs("vl_convert")
def test_a_small_country_is_a_circle_at_its_place() -> None:
    chart = world("w", "World", "requests", {"LI": 12_345})
    markup = chart.page_svg()
    assert [path for path in fills(markup) if path[0] == MOST]
    assert titles(markup) == ["Liechtenstein: 12,345"]
    assert chart.rows == [("Liechtenstein", "12,345")]
    assert texts(markup)[1] == "dots: countries too small to be seen"
    [drawn] = places_of(markup, f'fill="{MOST}"')
    assert math.dist(drawn, projected(47.17, 9.51)) < 1
    # At 400 px, where the map is half as large, its diameter is 4 px.
    assert radii(markup, MOST)[0] >= 4


@needs("vl_convert")
def test_countries_have_the_colours_of_their_classes() -> None:
    weights = {"BR": 5, "AU": 50, "US": 500, "RU": 5000, "CN": 50_000, "IN": 1_000_000, "XX": 1}
    chart = world("w", "World", "requests", weights)
    assert chart.rows[0] == ("India", "1,000,000")
    assert chart.rows[-1] == ("XX", "1")
    markup = chart.page_svg()
    for colour, (latitude, longitude), size in zip(
        SCALE,
        ((-10, -55), (-25, 134), (45, -115), (62, 95), (36, 103), (22, 80)),
        (90, 90, 150, 250, 90, 90),
        strict=True,
    ):
        lines = [line for fill, line in fills(markup) if fill == colour]
        assert math.dist(centre(lines[0]), projected(latitude, longitude)) < size
        assert len(lines) == 1
    key = ["1 to 10", "10 to 100", "100 to 1k", "1k to 10k", "10k to 100k", "100k or more requests"]
    assert texts(markup)[:6] == key
    assert (
        re.findall(r"background:([^;\"]+)", markup)[0] == SCALE[0] == "light-dark(#c7e9b4, #253494)"
    )


@needs("vl_convert")
def test_the_area_of_a_circle_is_proportional_and_small_ones_lie_above() -> None:
    places = of([(48.1, 11.6, 100), (48.2, 11.7, 300), (-33.9, 151.2, 100), (np.nan, 0, 9)])
    chart = world("w", "World", "requests", {}, places)
    markup = chart.page_svg()
    largest, smallest = radii(markup, CIRCLE)
    assert (largest / smallest) ** 2 == pytest.approx(4, rel=0.05)
    munich, sydney = places_of(markup, f'fill="{CIRCLE}"')
    assert math.dist(munich, projected(48.5, 11.7)) < 2
    assert math.dist(sydney, projected(-33.5, 151.2)) < 2
    assert "circles: requests within about 100 km, at most 400" in texts(markup)
    assert chart.rows == [("all circles", "500")]


@needs("vl_convert")
def test_few_are_not_drawn_and_not_counted() -> None:
    places = of([(48.1, 11.6, 4), (52.5, 13.4, 5)])
    chart = world("w", "World", "requests", {"DE": 9, "LI": 4, "FR": 5}, places, least=5)
    markup = chart.page_svg()
    assert sorted(titles(markup)) == ["France: 5", "Germany: 9"]
    assert chart.rows[-1] == ("Liechtenstein", "fewer than 5")
    assert len(places_of(markup, f'fill="{CIRCLE}"')) == 1
    assert texts(markup)[0] == "5 to 6"


@needs("vl_convert")
def test_a_ring_is_at_its_mark_and_explained_once() -> None:
    marks = [Mark(47.17, 9.51, "default <i>"), Mark(38, -97, "default <i>")]
    markup = world("w", "World", "requests", {"LI": 1}, marks=marks).page_svg()
    assert texts(markup).count("rings: default <i>") == 1
    rings = places_of(markup, 'stroke="black"')
    assert math.dist(rings[0], projected(47.17, 9.51)) < 1
    assert math.dist(rings[1], projected(38, -97)) < 1
    assert parsed(markup).find(".//i") is None


@needs("vl_convert")
def test_a_page_of_many_places_stays_small() -> None:
    degrees = [(y, x) for y in range(-50, 70, 2) for x in range(-180, 180, 2)]
    grid = [(float(y), float(x), 1.0 + x % 7) for y, x in degrees]
    names = json.loads(WORLD_FILE.read_text(encoding="utf-8"))["names"]
    markup = world("w", "World", "requests", dict.fromkeys(names, 7), of(grid)).page_svg()
    assert len(markup) < 260_000
    assert "circles: requests within about 100 km, at most 12; the 500 largest" in texts(markup)


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.integers(0, 9))))
def test_cells_hold_all_weights_about_100_km_from_their_centres(
    rows: list[tuple[float, float, float]],
) -> None:
    latitudes, longitudes, weights = cells(of(rows))
    assert weights.sum() == sum(weight for *_, weight in rows)
    assert len(latitudes) <= len(rows)
    assert all(abs(latitudes) < 90)
    assert all(abs(longitudes) < 180)
    for latitude, longitude, _ in rows:
        turn = (longitudes - longitude + 180) % 360 - 180
        east = np.abs(turn) * np.cos(np.radians(latitudes)) * 111.2
        north = np.abs(latitudes - latitude) * 111.2
        assert (np.hypot(east, north) < 100).any()
