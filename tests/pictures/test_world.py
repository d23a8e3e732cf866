"""Densities by cells, against sums over one place at a time; which counts are hidden."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures import world
from geolookup.pictures.grid import Grid
from geolookup.pictures.hidden import covered, not_hidden
from geolookup.pictures.world import Density, World

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
    found = World([_density(rows) for rows in drawn], least)
    assert np.all(np.diff(found.cells) > 0)
    shown = np.zeros(len(found.cells), bool)
    for rows, layer in zip(drawn, found.layers, strict=True):
        sums: dict[int, float] = defaultdict(float)
        nowhere = 0.0
        for latitude, longitude, weight in rows:
            if math.isnan(latitude) or math.isnan(longitude):
                nowhere += weight
            elif weight:
                cell = found.grid.cells(np.array([latitude]), np.array([longitude]))
                sums[int(cell[0])] += weight
        of_cells = np.array([sums[cell] for cell in sorted(sums)])
        enough = not_hidden(of_cells, least)
        kept = {cell: sums[cell] for cell, each in zip(sorted(sums), enough, strict=True) if each}
        cells = found.cells[layer.weights > 0].tolist()
        assert dict(zip(cells, layer.weights[layer.weights > 0].tolist(), strict=True)) == kept
        assert layer.nowhere == nowhere
        assert layer.hidden == sum(sums.values()) - sum(kept.values())
        assert layer.hidden_cells == len(sums) - len(kept)
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
    found = World([_density([(0, 0, 1), (50, 50, 1)])])
    assert (found.grid.km, found.layers[0].shown) == (world.SIDES[-1], 2)


@given(st.lists(st.integers(0, 12), max_size=8), st.integers(0, 8))
def test_the_sum_of_what_is_hidden_is_nothing_much_or_all(counts: list[int], least: int) -> None:
    array = np.array(counts, np.int64)
    shown = not_hidden(array, least)
    hidden = int(array[~shown].sum())
    assert hidden in (0, sum(counts)) or hidden >= least
    assert all(array[shown] >= least)
    enough = array >= least
    further = enough & ~shown
    assert further.sum() == (0 < array[~enough].sum() < least and enough.any())
    assert all(array[further] == min(array[enough], default=0))


def test_the_last_of_equal_counts_is_hidden() -> None:
    assert not_hidden(np.array([5, 7, 5, 4, 9]), 5).tolist() == [True, True, False, False, True]


def test_what_is_of_no_count_hides_too() -> None:
    counts = np.array([9, 2])
    assert covered(counts >= 5, counts, 5, beside=3).tolist() == [True, False]
    assert covered(counts >= 5, counts, 5, beside=2).tolist() == [False, False]
