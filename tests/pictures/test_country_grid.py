"""The countries of places on the grid."""

from __future__ import annotations

import numpy as np
import pytest

from geolookup.pictures.country_grid import codes, judge_places


def _judge(latitude: float, longitude: float, code: str) -> tuple[bool, str]:
    stated = np.array([codes().index(code)])
    agrees, actual = judge_places(np.array([latitude]), np.array([longitude]), stated)
    return bool(agrees[0]), codes()[int(actual[0])]


@pytest.mark.parametrize(
    ("point", "code", "expected"),
    [
        ((52.52, 13.4), "DE", (True, "DE")),
        ((52.52, 13.4), "FR", (False, "DE")),
        ((48.58, 7.75), "DE", (True, "FR")),  # Strasbourg, at the border
        ((-29.6, 28.2), "ZA", (False, "LS")),  # in the hole of South Africa
        ((30, -40), "US", (False, "")),  # the Atlantic
        ((64.8, -179.99), "RU", (True, "RU")),
        ((38.90, -77.04), "US", (True, "US")),
        ((-35.28, 149.13), "AU", (True, "AU")),
        ((28.61, 77.21), "CN", (False, "IN")),
    ],
)
def test_borders_are_tolerated(
    point: tuple[float, float], code: str, expected: tuple[bool, str]
) -> None:
    assert _judge(*point, code) == expected
