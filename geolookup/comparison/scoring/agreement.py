"""How far a dataset agrees with the truth: verdicts by joint interval, and their sums.

What the truth does not state is not counted. What a dataset does not state is null, not wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import Bools, Move, Share, share
from geolookup.comparison.scoring.places import Stated
from geolookup.comparison.weighted import F64, Kilometres, quantiles
from geolookup.dataset.distances import distances

#: By level, the names that state it: the first that a side has is shown.
FIELDS = {
    "country": ("country_code",),
    "region": ("region_code", "region_name"),
    "city": ("city_name",),
}
LEVELS = tuple(FIELDS)
#: Verdicts.
NOT_COUNTED, AGREES, WRONG, NULL = range(4)
VERDICTS = 4
NEAR_KM, FAR_KM = 50, 100


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of the weight whose truth states something and can be compared."""

    agree: Share
    wrong: Share
    null: Share


@dataclass(frozen=True, slots=True)
class Errors(Kilometres):
    """The distance from the truth, where both state coordinates; shares of that weight."""

    within_50: float
    within_100: float
    null: Share  # of the weight whose truth states coordinates: those without any in the dataset


@dataclass(frozen=True, slots=True)
class Measured:
    """How far a dataset agrees with a part of the truth, of the weight ``of``."""

    of: float
    country: Agreement
    region: Agreement
    city: Agreement
    kilometres: Errors


@dataclass(frozen=True, slots=True)
class Judged:
    """n joint intervals of one dataset, judged."""

    verdicts: Mapping[str, NDArray[np.uint8]]  # by level
    distance: F64  # km; NaN where a side states no coordinates
    located: Bools  # whether the truth states coordinates

    def chosen(self, rows: NDArray[Any]) -> Judged:
        """Return some of the intervals, by number."""
        verdicts = {level: each[rows] for level, each in self.verdicts.items()}
        return Judged(verdicts, self.distance[rows], self.located[rows])


def compared(level: str, one: Stated, other: Stated) -> Move:
    """Compare one level where both sides state it; ``moved`` marks where they differ.

    A region is compared by code, or by name if one side has no code. A region or city in
    another country is a different one. Sources divide countries in different ways, so the
    region of a city does not count.
    """
    country = _compared("country_code", one, other)
    if level == "country":
        return country
    if level == "city":
        city = _compared("city_name", one, other)
        return Move(city.compared, city.compared & (city.moved | country.moved))
    code, name = (_compared(f"region_{each}", one, other) for each in ("code", "name"))
    differs = np.where(code.compared, code.moved, name.moved) | country.moved
    either = code.compared | name.compared
    return Move(either, either & differs)


def _compared(name: str, one: Stated, other: Stated) -> Move:
    first, second = one.names[name], other.names[name]
    both = (first >= 0) & (second >= 0)
    return Move(both, both & (first != second))


def known(level: str, side: Stated) -> Bools:
    """Mark where a side states anything at a level."""
    found: Bools = np.logical_or.reduce([side.names[name] >= 0 for name in FIELDS[level]])
    return found


def located(side: Stated) -> Bools:
    """Mark where a side states coordinates."""
    found: Bools = ~np.logical_or.reduce(np.isnan(side.coordinates))
    return found


def apart(one: Stated, other: Stated) -> F64:
    """Return the distances in km; NaN where a side states no coordinates."""
    found = np.full(one.coordinates.shape[1], np.nan)
    rows = np.flatnonzero(located(one) & located(other))
    found[rows] = distances(one.coordinates[:, rows], other.coordinates[:, rows])
    return found


def judged(truth: Stated, dataset: Stated) -> Judged:
    """Judge what a dataset states by the truth."""
    verdicts = {level: _verdict(level, truth, dataset) for level in LEVELS}
    return Judged(verdicts, apart(truth, dataset), located(truth))


def _verdict(level: str, truth: Stated, dataset: Stated) -> NDArray[np.uint8]:
    both = compared(level, truth, dataset)
    found = np.where(both.compared, np.where(both.moved, WRONG, AGREES), NOT_COUNTED)
    found[known(level, truth) & ~known(level, dataset)] = NULL
    return found.astype(np.uint8)


def measured(rows: Judged, weight: F64, group: NDArray[Any], groups: int) -> list[Measured]:
    """Sum the judged intervals, of shape (n,), by group: numbers from 0 to ``groups`` - 1."""
    of = np.bincount(group, weight, minlength=groups)
    sums = {level: _sums(each, weight, group, groups) for level, each in rows.verdicts.items()}
    errors = _errors(rows, weight, group, groups)
    return [
        Measured(
            of=float(of[at]),
            **{level: _agreement(sums[level][at]) for level in LEVELS},
            kilometres=errors[at],
        )
        for at in range(groups)
    ]


def _sums(verdict: NDArray[np.uint8], weight: F64, group: NDArray[Any], groups: int) -> F64:
    """Return the weight by group and verdict, of shape (groups, 4)."""
    cells = group.astype(np.int64) * VERDICTS + verdict
    sums = np.bincount(cells, weight, minlength=groups * VERDICTS).astype(np.float64)
    return sums.reshape(groups, VERDICTS)


def _agreement(sums: F64) -> Agreement:
    total = sums[[AGREES, WRONG, NULL]].sum()
    return Agreement(*(share(sums[verdict], total) for verdict in (AGREES, WRONG, NULL)))


def _errors(rows: Judged, weight: F64, group: NDArray[Any], groups: int) -> list[Errors]:
    found = np.flatnonzero(~np.isnan(rows.distance))
    found = found[np.argsort(group[found], kind="stable")]
    bounds = np.searchsorted(group[found], np.arange(groups + 1))
    located = np.bincount(group, weight * rows.located, minlength=groups)
    return [
        _error(rows.distance[each], weight[each], located[at])
        for at in range(groups)
        for each in [found[bounds[at] : bounds[at + 1]]]
    ]


def _error(distance: F64, weight: F64, located: float) -> Errors:
    far = quantiles(distance, weight)
    near, nearly = (share(weight[distance <= km].sum(), far.of).share for km in (NEAR_KM, FAR_KM))
    null = share(max(located - far.of, 0.0), located)
    return Errors(far.of, far.p50, far.p90, far.p99, far.max, near, nearly, null)
