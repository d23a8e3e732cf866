"""The cells of the globe: none is smaller than it says, wherever it lies; each place is in one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.pictures.grid import Grid
from geolookup.pictures.world import SIDES
from tests.tiers import scaled

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


def _kilometres_north(south: float, north: float) -> float:
    """The least length of the meridian between two parallels of the ellipsoid."""
    sines = np.sin(np.radians(np.linspace(south, north, 9))) ** 2
    radius = _AXIS * (1 - _SQUARED) / (1 - _SQUARED * sines) ** 1.5
    return float(radius.min() * np.radians(north - south))


def _kilometres_east(latitude: float, degrees: float) -> float:
    """The length of a part of a parallel of the ellipsoid."""
    sine, cosine = np.sin(np.radians(latitude)), np.cos(np.radians(latitude))
    return float(_AXIS * cosine / np.sqrt(1 - _SQUARED * sine**2) * np.radians(degrees))


@pytest.mark.parametrize("side", [side for side in SIDES if scaled(side >= 20, True)])
def test_every_cell_is_as_large_as_it_says(side: int) -> None:
    grid = GRIDS[side]
    firsts = np.cumsum(grid.columns) - grid.columns
    edges = np.linspace(90, -90, grid.rows + 1)
    for row in range(grid.rows):
        north, south = edges[row : row + 2]
        assert _kilometres_north(south, north) >= side
        narrow = min(
            _kilometres_east(each, 360 / int(grid.columns[row])) for each in (north, south)
        )
        # A row of one cell goes around the pole: it is a disc.
        assert narrow >= side or (grid.columns[row] == 1 and row in (0, grid.rows - 1))
        assert grid.cells(np.array([(north + south) / 2]), np.array([-180.0]))[0] == firsts[row]


@given(places, st.sampled_from(SIDES))
@example((90.0, 180.0), 1)
@example((-90.0, -180.0), 1)
@example((89.9999, 179.9999999), 1)
@example((0.0, 180.0), 200)
def test_the_cells_of_places_are_as_large_as_they_say(
    place: tuple[float, float], side: int
) -> None:
    """The whole globe, with the poles and the date line."""
    grid = GRIDS[side]
    latitudes, _ = grid.centres(grid.cells(np.array([place[0]]), np.array([place[1]])))
    height = 180 / grid.rows
    north, south = float(latitudes[0]) + height / 2, float(latitudes[0]) - height / 2
    row = round((90 - north) / height)
    assert _kilometres_north(south, north) >= side
    poleward = max(abs(north), abs(south))
    alone = grid.columns[row] == 1
    assert alone or _kilometres_east(poleward, 360 / int(grid.columns[row])) >= side


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
    assert np.array_equal(grid.cells(*grid.centres(numbers)), numbers)


@pytest.mark.parametrize("turns", [-1, 1, 2])
def test_the_longitude_may_be_any_angle(turns: int) -> None:
    east = np.array([-180.0, -77.0, 0.0, 179.0])
    found = GRIDS[5].cells(np.full(4, 38.9), east + 360 * turns)
    assert np.array_equal(found, GRIDS[5].cells(np.full(4, 38.9), east))
