"""What lies where on the globe: weights, summed by cell and by country."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from geolookup.dataset.intervals import F64, I64, Bools
from geolookup.pictures import outlines
from geolookup.pictures.cell_groups import CellParts, mark_cells
from geolookup.pictures.globe import Grid
from geolookup.pictures.wording import mark_shown

#: How many km the sides of cells are, at least. Nothing that is drawn is finer than the first.
SIDES = (1, 2, 5, 10, 20, 50, 100, 200)
#: How many numbers a page can hold for a map: a cell takes one, and one for each density.
_NUMBERS = 240_000


@dataclass(frozen=True, slots=True)
class Density:
    """A density on a map of the world: weights at each of n places.

    ``latitudes`` and ``longitudes`` are degrees, shape (n,), NaN if they are not known;
    ``weights`` are not negative. A place may occur again. ``groups`` are numbers from 0 on, if the
    page states the sums of groups of places too.
    """

    name: str  # of files and elements: "ipv4"
    title: str  # as shown: "IPv4 addresses"
    unit: str  # what a weight counts: "addresses"
    latitudes: F64
    longitudes: F64
    weights: F64
    groups: I64 | None = None


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
    """A density by cells: ``weights`` of shape (cells,), 0 if nothing is shown."""

    density: Density
    weights: F64
    nowhere: float  # the sum without coordinates
    hidden: float  # the sum of the other cells

    @property
    def shown(self) -> float:
        """The sum on the map."""
        return float(self.weights.sum())


class World:
    """Densities, summed by the cells of one grid: ``cells`` ascend and have a weight in some.

    Cells of less than ``least`` are hidden, and others as ``mark_cells`` says.
    """

    def __init__(self, densities: Sequence[Density], least: float = 0) -> None:
        self.least = least
        places = [_PlaceWeights(density) for density in densities]
        self.grid, sums = _bin(places)
        visible = sums
        if least:
            visible = [
                every.of_least(least, of_density.parts(self.grid))
                for every, of_density in zip(sums, places, strict=True)
            ]
        self.cells = _together(visible)
        self.layers = [
            _layer(density, self.cells, every, selection)
            for density, every, selection in zip(densities, sums, visible, strict=True)
        ]

    @cached_property
    def centres(self) -> tuple[F64, F64]:
        """Latitude and longitude of the cells' centres, in degrees; each of shape (cells,)."""
        return self.grid.centres(self.cells)


class _Sums(NamedTuple):
    """The cells that have a weight, ascending, and the sum of each."""

    cells: I64
    weights: F64

    def of_least(self, least: float, parts: CellParts) -> _Sums:
        selection = mark_cells(self.weights, least, parts)
        return _Sums(self.cells[selection], self.weights[selection])


class _PlaceWeights:
    """The places of a density that have coordinates and a weight."""

    def __init__(self, density: Density) -> None:
        selection = (density.weights > 0) & ~_nowhere(density)
        self.latitudes = density.latitudes[selection]
        self.longitudes = density.longitudes[selection]
        self.weights = density.weights[selection]
        groups = np.zeros(len(selection), np.int64) if density.groups is None else density.groups
        self.groups = groups[selection]
        nowhere = _nowhere(density)
        count = int(groups.max(initial=0)) + 1
        self.beside = sums_by(groups[nowhere], density.weights[nowhere], count)

    def parts(self, grid: Grid) -> CellParts:
        """Return the parts of the cells by group; cells as in ``sums``."""
        _, of_cell = np.unique(grid.cells(self.latitudes, self.longitudes), return_inverse=True)
        keys, of_key = np.unique(of_cell * len(self.beside) + self.groups, return_inverse=True)
        cells, groups = np.divmod(keys, len(self.beside))
        return CellParts(cells, groups, sums_by(of_key, self.weights, len(keys)), self.beside)

    def sums(self, grid: Grid) -> _Sums:
        cells, of_cell = np.unique(grid.cells(self.latitudes, self.longitudes), return_inverse=True)
        return _Sums(cells, sums_by(of_cell, self.weights, len(cells)))


def sums_by(groups: I64, weights: F64, count: int) -> F64:
    """Return the sums of weights by group, numbered from 0; shape (count,)."""
    return np.asarray(np.bincount(groups, weights, count), np.float64)


def _nowhere(density: Density) -> Bools:
    return np.isnan(density.latitudes) | np.isnan(density.longitudes)


def _bin(placed: Sequence[_PlaceWeights]) -> tuple[Grid, list[_Sums]]:
    """Return the finest grid whose cells a page can hold, and the sums of each density in it."""
    for side in SIDES:
        grid = Grid(side)
        sums = [of_density.sums(grid) for of_density in placed]
        # A number for the cell itself, and one for each density.
        if len(_together(sums)) * (len(placed) + 1) <= _NUMBERS:
            break
    return grid, sums


def _together(sums: Sequence[_Sums]) -> I64:
    return np.unique(np.concatenate([of_density.cells for of_density in sums]))


def _layer(density: Density, cells: I64, every: _Sums, visible: _Sums) -> Layer:
    weights = np.zeros(len(cells))
    # Cells ascend and hold all that are shown: the search finds the very cell.
    weights[np.searchsorted(cells, visible.cells)] = visible.weights
    return Layer(
        density,
        weights,
        nowhere=float(density.weights[_nowhere(density)].sum()),
        hidden=float(every.weights.sum() - visible.weights.sum()),
    )


class Country(NamedTuple):
    """How much lies in a country, or in a part of it; a weight is not negative."""

    code: str | None  # ISO 3166-1 alpha-2; None if the country is not known
    name: str | None
    weight: float


@dataclass(frozen=True, slots=True)
class CountryDensity:
    """A layer of a map of the world with coloured countries; a country may occur again."""

    name: str  # of files and elements: "ipv4-countries"
    title: str  # as shown: "IPv4 addresses by country"
    unit: str  # what a weight counts: "addresses"
    rows: Sequence[Country]


class CountryLayer:
    """A density by country: ``countries`` have an area and a weight, the largest first.

    Countries of less than ``least`` are hidden, and others as ``wording.cover`` says.
    """

    def __init__(self, density: CountryDensity, least: float = 0) -> None:
        self.density = density
        areas = set(outlines.read().countries.tolist())
        every = _sum_by_code(density.rows)
        selection = mark_shown(np.array([country.weight for country in every]), least)
        visible = [country for country, shows in zip(every, selection, strict=True) if shows]
        self.countries = [country for country in visible if country.code in areas]
        #: The sum of the countries that are hidden, with an area or without.
        self.hidden = _total(every) - _total(visible)
        #: The sum for no country, or for one without an area.
        self.nowhere = _total(density.rows) - self.hidden - self.shown

    @property
    def shown(self) -> float:
        """The sum on the map."""
        return _total(self.countries)

    @property
    def weights(self) -> F64:
        """The weights of ``countries``."""
        return np.array([country.weight for country in self.countries], np.float64)


def _total(rows: Iterable[Country]) -> float:
    return sum(row.weight for row in rows)


def _sum_by_code(rows: Sequence[Country]) -> list[Country]:
    """Return a row of each code that has a weight, named as its largest row, largest first."""
    largest: dict[str, Country] = {}
    sums: dict[str, float] = {}
    for row in sorted(rows, key=lambda row: -row.weight):
        if row.code and row.weight:
            largest.setdefault(row.code, row)
            sums[row.code] = sums.get(row.code, 0) + row.weight
    countries = [row._replace(weight=sums[code]) for code, row in largest.items()]
    return sorted(countries, key=lambda row: (-row.weight, row.code))
