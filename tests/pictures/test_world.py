"""The cells of the globe, Equal Earth, densities by cell and country; which counts are hidden."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from geolookup.pictures import outlines
from geolookup.pictures.cell_groups import CellParts, mark_cells
from geolookup.pictures.wording import cover, mark_shown
from geolookup.pictures.world import Country, CountryDensity, CountryLayer, Density, World

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
