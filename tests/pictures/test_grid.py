"""The cells of the globe, none smaller than it says, and the projection: Equal Earth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.pictures.grid import Grid
from geolookup.pictures.projection import HEIGHT, WIDTH, project, unproject
from geolookup.pictures.world import SIDES

#: WGS 84: the semi-major axis in km, and the first eccentricity squared.
_AXIS, _SQUARED = 6378.137, 6.69437999014e-3
GRIDS = {side: Grid(side) for side in SIDES}
places = st.tuples(st.floats(-90, 90), st.floats(-180, 180))


def _bounds(grid: Grid, cell: int) -> tuple[float, float, float, float]:
    """North, south, west and east of a cell, counted from the first one by its definition."""
    row = 0
    while cell >= grid.columns[row]:
        cell -= int(grid.columns[row])
        row += 1
    height, width = 180 / grid.rows, 360 / int(grid.columns[row])
    return 90 - row * height, 90 - (row + 1) * height, cell * width - 180, (cell + 1) * width - 180


def test_every_cell_is_as_large_as_it_says() -> None:
    """All rows of all grids; one of a single cell goes around the pole and is a disc."""
    for side, grid in GRIDS.items():
        edges = np.linspace(90, -90, grid.rows + 1)
        north, south, inside = edges[:-1], edges[1:], np.linspace(0, 1, 9)[:, None]
        # The least length of the meridian between two parallels of the ellipsoid.
        sines = np.sin(np.radians(south + inside * (north - south))) ** 2
        radius = _AXIS * (1 - _SQUARED) / (1 - _SQUARED * sines) ** 1.5
        assert (radius.min(axis=0) * np.radians(north - south) >= side).all(), side
        poleward = np.radians(np.maximum(abs(north), abs(south)))
        parallel = _AXIS * np.cos(poleward) / np.sqrt(1 - _SQUARED * np.sin(poleward) ** 2)
        alone = (grid.columns == 1) & np.isin(np.arange(grid.rows), (0, grid.rows - 1))
        assert (alone | (parallel * 2 * np.pi / grid.columns >= side)).all(), side
        firsts = np.cumsum(grid.columns) - grid.columns
        assert np.array_equal(grid.cells((north + south) / 2, np.full(grid.rows, -180.0)), firsts)


@example([(90.0, 180.0), (-90.0, -180.0), (89.9999, 179.9999999), (0.0, 180.0)])
@given(st.lists(places, min_size=1, max_size=20))
def test_a_place_lies_in_its_cell(drawn: list[tuple[float, float]]) -> None:
    grid = GRIDS[200]
    cells = grid.cells(*np.array(drawn).T)
    centres = np.array(grid.centres(cells)).T
    for (latitude, longitude), cell, centre in zip(drawn, cells.tolist(), centres, strict=True):
        north, south, west, east = _bounds(grid, cell)
        assert south - 1e-9 <= latitude <= north + 1e-9
        turned = (longitude + 180) % 360 - 180  # 180 is -180, and what rounds to it
        assert west - 1e-9 <= turned <= east + 1e-9
        assert centre == pytest.approx([(north + south) / 2, (west + east) / 2])


def test_the_cells_are_numbered_without_gaps() -> None:
    grid = GRIDS[200]
    numbers = np.arange(grid.columns.sum())
    latitudes, longitudes = grid.centres(numbers)
    for turns in (0, -1, 1, 2):  # the longitude may be any angle
        assert np.array_equal(grid.cells(latitudes, longitudes + 360 * turns), numbers)


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
