"""The cells of the globe, Equal Earth, densities by cell and country; which counts are hidden."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geolookup.pictures import outlines, world
from geolookup.pictures.cell_groups import CellParts, mark_cells
from geolookup.pictures.globe import HEIGHT, WIDTH, Grid, project
from geolookup.pictures.log_classes import class_colours
from geolookup.pictures.wording import cover, mark_shown
from geolookup.pictures.world import SIDES, Country, CountryDensity, CountryLayer, Density, World
from geolookup.pictures.world_frame import rings
from geolookup.pictures.world_picture import country_pictures

#: WGS 84: the semi-major axis in km, and the first eccentricity squared.
_AXIS, _SQUARED = 6378.137, 6.69437999014e-3
GRIDS = {side: Grid(side) for side in SIDES}
latitudes, longitudes = st.floats(-90, 90), st.floats(-180, 180)
places = st.tuples(latitudes, longitudes)


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
        result = project(np.array([latitude], float), np.array([longitude], float))
        if 0 in (latitude, longitude):  # at an end of the map
            ends = WIDTH * longitude / 180, HEIGHT * latitude / 90
            assert [float(item[0]) for item in result] == pytest.approx(ends, abs=1e-12)
        assert [6378137 * float(item[0]) for item in result] == pytest.approx([x, y], abs=0.01)


@given(st.floats(-89, 89), st.floats(-179, 179))
def test_areas_are_those_of_the_globe(latitude: float, longitude: float) -> None:
    """The determinant of the derivatives is the cosine of the latitude, as on the sphere."""
    step = 1e-4
    around = np.array([[step, 0], [-step, 0], [0, step], [0, -step]])
    x, y = project(latitude + around[:, 0], longitude + around[:, 1])
    width = 2 * np.radians(step)
    (x_north, x_east), (y_north, y_east) = ((-np.diff(item)[::2] / width) for item in (x, y))
    area = x_east * y_north - x_north * y_east
    assert area == pytest.approx(np.cos(np.radians(latitude)), abs=1e-6)


_NAN = float("nan")
_places = st.lists(
    st.tuples(
        st.sampled_from((-90.0, -33.9, 0.0, 51.5, 51.509, 90.0, _NAN)),
        st.sampled_from((-180.0, -0.1, -0.12, 151.2, 180.0, _NAN)),
        st.integers(0, 100).map(float),
    )
)


def _density(rows: list[tuple[float, float, float]], name: str = "some") -> Density:
    latitudes, longitudes, weights = np.array(rows, float).reshape(-1, 3).T
    return Density(name, "Some", "requests", latitudes, longitudes, weights)


@given(st.lists(_places, min_size=1, max_size=3), st.sampled_from((0, 30)))
def test_cells_have_the_sums_of_their_places(
    drawn: list[list[tuple[float, float, float]]], least: float
) -> None:
    result = World([_density(rows) for rows in drawn], least)
    assert np.all(np.diff(result.cells) > 0)
    shown = np.zeros(len(result.cells), bool)
    for rows, layer in zip(drawn, result.layers, strict=True):
        sums: dict[int, float] = defaultdict(float)
        nowhere = 0.0
        for latitude, longitude, weight in rows:
            if math.isnan(latitude) or math.isnan(longitude):
                nowhere += weight
            elif weight:
                cell = result.grid.cells(np.array([latitude]), np.array([longitude]))
                sums[int(cell[0])] += weight
        of_cells = np.array([sums[cell] for cell in sorted(sums)])
        enough = mark_shown(of_cells, least)
        kept = {cell: sums[cell] for cell, item in zip(sorted(sums), enough, strict=True) if item}
        cells = result.cells[layer.weights > 0].tolist()
        assert dict(zip(cells, layer.weights[layer.weights > 0].tolist(), strict=True)) == kept
        assert layer.nowhere == nowhere
        assert layer.hidden == sum(sums.values()) - sum(kept.values())
        assert layer.shown == sum(kept.values())
        shown |= layer.weights > 0
    assert shown.all()


def test_the_grid_is_the_finest_that_a_page_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(17)
    rows = np.column_stack([rng.uniform(50, 51, 99), rng.uniform(5, 6, 99), np.ones(99)])
    density = _density([tuple(row) for row in rows.tolist()])
    assert World([density]).grid.km == world.SIDES[0]
    monkeypatch.setattr(world, "_NUMBERS", 60)
    coarse = World([density])
    assert len(coarse.cells) <= 30
    assert coarse.layers[0].shown == 99
    finer = world.SIDES[world.SIDES.index(int(coarse.grid.km)) - 1]
    assert len(np.unique(Grid(finer).cells(rows[:, 0], rows[:, 1]))) > 30
    monkeypatch.setattr(world, "_NUMBERS", 1)  # none fits
    result = World([_density([(0, 0, 1), (50, 50, 1)])])
    assert (result.grid.km, result.layers[0].shown) == (world.SIDES[-1], 2)


@given(st.lists(st.integers(0, 12), max_size=8), st.integers(0, 8))
def test_the_sum_of_what_is_hidden_is_nothing_much_or_all(counts: list[int], least: int) -> None:
    array = np.array(counts, np.int64)
    shown = mark_shown(array, least)
    hidden = int(array[~shown].sum())
    assert hidden in (0, sum(counts)) or hidden >= least
    assert all(array[shown] >= least)
    enough = array >= least
    further = enough & ~shown
    assert further.sum() == (0 < array[~enough].sum() < least and enough.any())
    assert all(array[further] == min(array[enough], default=0))


def test_the_last_of_equal_counts_is_hidden() -> None:
    assert mark_shown(np.array([5, 7, 5, 4, 9]), 5).tolist() == [True, True, False, False, True]


def test_what_is_of_no_count_hides_too() -> None:
    counts = np.array([9, 2])
    assert cover(counts >= 5, counts, 5, beside=3).tolist() == [True, False]
    assert cover(counts >= 5, counts, 5, beside=2).tolist() == [False, False]


@given(
    st.lists(st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 9]), min_size=3, max_size=3), min_size=1),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
    st.integers(1, 7),
)
def test_no_group_has_few_in_hidden_cells(
    table: list[list[int]], beside: list[int], least: int
) -> None:
    counts = np.array(table, float)
    counts = counts[counts.sum(axis=1) > 0]
    cells, groups = np.nonzero(counts)
    parts = CellParts(cells, groups, counts[cells, groups], np.array(beside, float))
    weights = counts.sum(axis=1)
    mask = mark_cells(weights, least, parts)
    assert not (mask & ~mark_shown(weights, least)).any()
    for group in range(3):
        hidden = counts[~mask, group].sum()
        if hidden and counts[mask, group].any():
            assert hidden + beside[group] >= least
    assert weights[~mask].sum() in (0, weights.sum()) or weights[~mask].sum() >= least


_AREAS = set(outlines.read().countries.tolist())
_codes = st.sampled_from(("DE", "FR", "XK", "RE", "ZZ", "de", "", None))
_rows = st.lists(st.tuples(_codes, st.sampled_from(("A", None)), st.integers(0, 9)))


def _layer(rows: list[tuple[str | None, str | None, int]], least: float = 0) -> CountryLayer:
    actual = [Country(*row) for row in rows]
    return CountryLayer(CountryDensity("some", "Some", "requests", actual), least)


@given(_rows, st.sampled_from((0, 5)))
def test_countries_have_the_sums_of_their_rows(
    rows: list[tuple[str | None, str | None, int]], least: int
) -> None:
    layer = _layer(rows, least)
    sums: Counter[str] = Counter()
    nowhere = hidden = 0
    for code, _, weight in rows:
        if code:
            sums[code] += weight
        else:
            nowhere += weight
    kept = {}
    for weight, code in sorted((-weight, code) for code, weight in (+sums).items()):
        kept[code] = -weight
    for code in reversed(list(kept)):  # the smallest first, until the hidden ones are many
        if kept[code] < least or 0 < hidden < least:
            hidden += kept.pop(code)
    nowhere += sum(kept.pop(code) for code in set(kept) - _AREAS)
    assert {country.code: country.weight for country in layer.countries} == kept
    assert layer.weights.tolist() == sorted(kept.values(), reverse=True)
    assert layer.nowhere == nowhere
    assert layer.shown == sum(kept.values())
    assert layer.hidden == hidden


def test_a_country_has_the_name_of_its_largest_row() -> None:
    layer = _layer([("DE", "Small", 1), ("DE", "Large", 3), ("FR", None, 9)])
    assert [tuple(country) for country in layer.countries] == [("FR", None, 9), ("DE", "Large", 4)]


def test_the_picture_fills_countries_by_their_weight() -> None:
    (picture,) = country_pictures("world", _layer([("DE", "", 1), ("ZA", "", 9)]))
    assert picture.name == "world-some"
    for code, colour in (("DE", class_colours(3)[-1]), ("ZA", class_colours(3)[0])):
        path = "".join(ring for of, ring in rings() if of == code)
        assert f'<path fill="{colour}" d="{path}"/>' in picture.svg
    assert list(country_pictures("world", _layer([("ZZ", "", 9)]))) == []
