"""Equal Earth against published values, its inverse, and equal areas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures.projection import HEIGHT, WIDTH, project, unproject

latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)


def test_published_values() -> None:
    """PROJ's own tests, +proj=eqearth +R=6378137, in metres."""
    for latitude, longitude, x, y in (
        (0, 0, 0, 0),
        (0, 180, 17263256.84, 0),
        (45, -180, -14795421.79, 5486671.72),
        (-45, 180, 14795421.79, -5486671.72),
        (90, -180, -10227908.09, 8402320.16),
        (-90, 0, 0, -8402320.16),
    ):
        found = project(np.array([latitude], float), np.array([longitude], float))
        if 0 in (latitude, longitude):  # at an end of the map
            ends = WIDTH * longitude / 180, HEIGHT * latitude / 90
            assert [float(each[0]) for each in found] == pytest.approx(ends, abs=1e-12)
        assert [6378137 * float(each[0]) for each in found] == pytest.approx([x, y], abs=0.01)


@given(latitudes.filter(lambda each: abs(each) < 89.9), longitudes)
def test_the_inverse_returns_the_place(latitude: float, longitude: float) -> None:
    found = unproject(*project(np.array([latitude]), np.array([longitude])))
    assert [float(each[0]) for each in found] == pytest.approx([latitude, longitude], abs=1e-7)


def test_beyond_the_poles_there_is_nothing() -> None:
    latitude, _ = unproject(np.zeros(2), np.array([HEIGHT + 0.01, -HEIGHT - 0.01]))
    assert np.isnan(latitude).all()


@given(st.floats(-89, 89), st.floats(-179, 179))
def test_areas_are_those_of_the_globe(latitude: float, longitude: float) -> None:
    """The determinant of the derivatives is the cosine of the latitude, which the sphere has."""
    step = 1e-4
    around = np.array([[step, 0], [-step, 0], [0, step], [0, -step]])
    x, y = project(latitude + around[:, 0], longitude + around[:, 1])
    width = 2 * np.radians(step)
    (x_north, x_east), (y_north, y_east) = ((-np.diff(each)[::2] / width) for each in (x, y))
    area = x_east * y_north - x_north * y_east
    assert area == pytest.approx(np.cos(np.radians(latitude)), abs=1e-6)
