"""What lies where: weights of places, summed by cells of the globe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup.pictures.grid import Grid
from geolookup.pictures.hidden import not_hidden

#: How many km the sides of cells are, at least. Nothing that is drawn is finer than the first.
SIDES = (1, 2, 5, 10, 20, 50, 100, 200)
#: How many numbers a page can hold for a map: a cell takes one, and one for each density.
_NUMBERS = 240_000


@dataclass(frozen=True, slots=True)
class Density:
    """What a map of the world shows by colour: how much lies at each of n places.

    ``latitudes`` and ``longitudes`` are degrees, shape (n,), NaN where they are not known;
    ``weights`` are not negative. A place may occur again.
    """

    name: str  # of files and elements: "ipv4"
    title: str  # as shown: "IPv4 addresses"
    unit: str  # what a weight counts: "addresses"
    latitudes: F64
    longitudes: F64
    weights: F64


@dataclass(frozen=True, slots=True)
class DefaultCoordinates:
    """A place to mark, where more lies than a map of density says."""

    name: str  # "United States"
    reason: str  # "no city"
    latitude: float
    longitude: float
    weight: float
    share: float  # of the country's


@dataclass(frozen=True, slots=True)
class Layer:
    """A density by cells: ``weights`` of shape (cells,), 0 where nothing is shown."""

    density: Density
    weights: F64
    nowhere: float  # the sum of what has no coordinates
    hidden: float  # the sum of the other cells
    hidden_cells: int

    @property
    def shown(self) -> float:
        """The sum of what the map shows."""
        return float(self.weights.sum())


class World:
    """Densities, summed by the cells of one grid: ``cells`` ascend and have a weight in some.

    Cells of less than ``least`` are hidden, and others as ``covered`` says.
    """

    def __init__(self, densities: Sequence[Density], least: float = 0) -> None:
        self.least = least
        self.grid, sums = _binned([_Placed(each) for each in densities])
        shown = [each.of_least(least) for each in sums]
        self.cells = _together(shown)
        self.layers = [
            _layer(density, self.cells, every, chosen)
            for density, every, chosen in zip(densities, sums, shown, strict=True)
        ]

    @cached_property
    def centres(self) -> tuple[F64, F64]:
        """Latitude and longitude of the cells' centres, in degrees; each of shape (cells,)."""
        return self.grid.centres(self.cells)


class _Sums(NamedTuple):
    """The cells that have a weight, ascending, and the sum of each."""

    cells: I64
    weights: F64

    def of_least(self, least: float) -> _Sums:
        chosen = not_hidden(self.weights, least)
        return _Sums(self.cells[chosen], self.weights[chosen])


class _Placed:
    """The places of a density that have coordinates and a weight."""

    def __init__(self, density: Density) -> None:
        chosen = (density.weights > 0) & ~_nowhere(density)
        self.latitudes = density.latitudes[chosen]
        self.longitudes = density.longitudes[chosen]
        self.weights = density.weights[chosen]

    def sums(self, grid: Grid) -> _Sums:
        cells, of_cell = np.unique(grid.cells(self.latitudes, self.longitudes), return_inverse=True)
        return _Sums(cells, sums_by(of_cell, self.weights, len(cells)))


def sums_by(groups: I64, weights: F64, count: int) -> F64:
    """Return the sums of weights by group, numbered from 0; shape (count,)."""
    return np.asarray(np.bincount(groups, weights, count), np.float64)


def _nowhere(density: Density) -> Bools:
    return np.isnan(density.latitudes) | np.isnan(density.longitudes)


def _binned(placed: Sequence[_Placed]) -> tuple[Grid, list[_Sums]]:
    """Return the finest grid whose cells a page can hold, and the sums of each density in it."""
    for side in SIDES:
        grid = Grid(side)
        sums = [each.sums(grid) for each in placed]
        if len(_together(sums)) * (len(placed) + 1) <= _NUMBERS:
            break
    return grid, sums


def _together(sums: Sequence[_Sums]) -> I64:
    return np.unique(np.concatenate([each.cells for each in sums]))


def _layer(density: Density, cells: I64, every: _Sums, shown: _Sums) -> Layer:
    weights = np.zeros(len(cells))
    weights[np.searchsorted(cells, shown.cells)] = shown.weights
    return Layer(
        density,
        weights,
        nowhere=float(density.weights[_nowhere(density)].sum()),
        hidden=float(every.weights.sum() - shown.weights.sum()),
        hidden_cells=len(every.cells) - len(shown.cells),
    )
