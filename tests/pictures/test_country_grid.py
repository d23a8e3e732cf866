"""The countries of places on the grid, against the outlines by ray casting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geolookup.pictures import outlines
from geolookup.pictures.country_grid import codes, country_at, judge_places
from tests.tiers import scaled

_SHAPES = outlines.read()
_LATITUDES, _LONGITUDES = _SHAPES.land.degrees()
_CUTS = np.cumsum(_SHAPES.land.lengths)[:-1]
_RINGS = list(zip(_SHAPES.countries.tolist(), np.split(_LATITUDES, _CUTS),
                  np.split(_LONGITUDES, _CUTS), strict=True))  # fmt: skip


def _country(latitude: float, longitude: float) -> str:
    """Return the country of a place: the rings of one that are crossed an odd number of times."""
    crossed: dict[str, int] = {}
    for code, y, x in _RINGS:
        y2, x2 = np.roll(y, -1), np.roll(x, -1)
        spans = (y > latitude) != (y2 > latitude)
        with np.errstate(divide="ignore", invalid="ignore"):
            at = x + (latitude - y) / (y2 - y) * (x2 - x)
        crossed[code] = crossed.get(code, 0) + int((spans & (at > longitude)).sum())
    return next((code for code, times in crossed.items() if times % 2), "")


def _judge(latitude: float, longitude: float, code: str) -> tuple[bool, str]:
    stated = np.array([codes().index(code)])
    agrees, actual = judge_places(np.array([latitude]), np.array([longitude]), stated)
    return bool(agrees[0]), codes()[int(actual[0])]


@settings(max_examples=scaled(15, 200))
@given(st.floats(-85, 85), st.floats(-179.9, 179.9))
def test_a_place_lies_in_the_country_of_its_outline(latitude: float, longitude: float) -> None:
    code = _country(latitude, longitude)
    if code:
        assert _judge(latitude, longitude, code)[0]
    else:  # a cell reaches over the coast
        country = codes()[int(country_at(np.array([latitude]), np.array([longitude]))[0])]
        corners = [(a, b) for a in (-0.15, 0, 0.15) for b in (-0.15, 0, 0.15)]
        near = {_country(latitude + a, longitude + b) for a, b in corners}
        assert country in near | {""}


@pytest.mark.parametrize(
    ("point", "code", "expected"),
    [
        ((52.52, 13.4), "DE", (True, "DE")),
        ((52.52, 13.4), "FR", (False, "DE")),
        ((48.58, 7.75), "DE", (True, "FR")),  # Strasbourg, at the border
        ((-29.6, 28.2), "ZA", (False, "LS")),  # in the hole of South Africa
        ((30, -40), "US", (False, "")),  # the Atlantic
        ((64.8, -179.99), "RU", (True, "")),
    ],
)
def test_borders_are_tolerated(
    point: tuple[float, float], code: str, expected: tuple[bool, str]
) -> None:
    agrees, actual = _judge(*point, code)
    assert agrees == expected[0]
    assert actual == expected[1] or code == "RU"
