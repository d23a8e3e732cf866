"""How far a dataset agrees with the truth: verdicts by joint interval, their sums, and metrics.

What the truth does not state is not counted. What a dataset does not state is null, not wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.gates import Metrics
from geolookup.comparison.measures import (
    F64,
    Bools,
    Kilometres,
    Move,
    Share,
    quantiles,
    region_move,
    share,
)
from geolookup.comparison.scoring.joint import PARTS
from geolookup.comparison.scoring.places import SideAnswers
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
_KINDS = ("agree", "wrong", "null")
#: The names of all metrics, in the order of a report.
NAMES = (
    *(f"{level}_{kind}" for level in LEVELS for kind in _KINDS),
    *("km_p50", "km_p90", "within_50_km", "within_100_km", "coordinates_null"),
)


def score_metrics(own: Sequence[str] = ()) -> Metrics:
    """Return the metrics of scores; ``own`` are names of metrics of own columns."""
    return Metrics((*NAMES, *own), PARTS, "docs/data/score.md", "country_agree < 95%")


#: The metrics without own columns.
SCORE_METRICS = score_metrics()


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
class Accuracy:
    """How far a dataset agrees with a part of the truth, of the weight ``of``."""

    of: float
    country: Agreement
    region: Agreement
    city: Agreement
    kilometres: Errors


@dataclass(frozen=True, slots=True)
class Judgements:
    """n joint intervals of one dataset, judged."""

    verdicts: Mapping[str, NDArray[np.uint8]]  # by level
    distance: F64  # km; NaN if a side states no coordinates
    located: Bools  # whether the truth states coordinates

    def take(self, rows: NDArray[Any]) -> Judgements:
        """Return some of the intervals, by number."""
        verdicts = {level: verdict[rows] for level, verdict in self.verdicts.items()}
        return Judgements(verdicts, self.distance[rows], self.located[rows])


def compare(level: str, one: SideAnswers, other: SideAnswers) -> Move:
    """Compare one level in the intervals where both sides state it; ``moved`` marks differences.

    A city in another country is a different one. Sources divide countries in different ways, so
    the region of a city does not count.
    """
    country = _compare_name("country_code", one, other)
    if level == "country":
        return country
    if level == "city":
        city = _compare_name("city_name", one, other)
        return Move(city.compared, city.compared & (city.moved | country.moved))
    code, name = _compare_name("region_code", one, other), _compare_name("region_name", one, other)
    return region_move(country, code, name)


def _compare_name(name: str, one: SideAnswers, other: SideAnswers) -> Move:
    first, second = one.names[name], other.names[name]
    both = (first >= 0) & (second >= 0)
    return Move(both, both & (first != second))


def has_level(level: str, side: SideAnswers) -> Bools:
    """Mark where a side states anything at a level."""
    marks: Bools = np.logical_or.reduce([side.names[name] >= 0 for name in FIELDS[level]])
    return marks


def has_coordinates(side: SideAnswers) -> Bools:
    """Mark where a side states coordinates."""
    marks: Bools = ~np.logical_or.reduce(np.isnan(side.coordinates))
    return marks


def apart(one: SideAnswers, other: SideAnswers) -> F64:
    """Return the distances in km; NaN if a side states no coordinates."""
    kilometres = np.full(one.coordinates.shape[1], np.nan)
    rows = np.flatnonzero(has_coordinates(one) & has_coordinates(other))
    kilometres[rows] = distances(one.coordinates[:, rows], other.coordinates[:, rows])
    return kilometres


def judge_answers(truth: SideAnswers, dataset: SideAnswers) -> Judgements:
    """Compare the answers of a dataset with the truth."""
    verdicts = {level: _verdict(level, truth, dataset) for level in LEVELS}
    return Judgements(verdicts, apart(truth, dataset), has_coordinates(truth))


def _verdict(level: str, truth: SideAnswers, dataset: SideAnswers) -> NDArray[np.uint8]:
    both = compare(level, truth, dataset)
    verdicts = np.where(both.compared, np.where(both.moved, WRONG, AGREES), NOT_COUNTED)
    # A region stated by name on one side and by code on the other is not counted.
    verdicts[has_level(level, truth) & ~has_level(level, dataset)] = NULL
    return verdicts.astype(np.uint8)


def measure(rows: Judgements, weight: F64, group: NDArray[Any], groups: int) -> list[Accuracy]:
    """Sum the judged intervals, of shape (n,), by group: numbers from 0 to ``groups`` - 1."""
    of = np.bincount(group, weight, minlength=groups)
    sums = {
        level: _sums(verdict, weight, group, groups) for level, verdict in rows.verdicts.items()
    }
    errors = _errors(rows, weight, group, groups)
    return [
        Accuracy(
            of=float(of[at]),
            **{level: _agreement(sums[level][at]) for level in LEVELS},
            kilometres=errors[at],
        )
        for at in range(groups)
    ]


def _sums(verdict: NDArray[np.uint8], weight: F64, group: NDArray[Any], groups: int) -> F64:
    """Return the weight by group and verdict, of shape (groups, 4)."""
    # Group 2 with verdict 1 is cell 2 * 4 + 1.
    cells = group.astype(np.int64) * VERDICTS + verdict
    sums = np.bincount(cells, weight, minlength=groups * VERDICTS).astype(np.float64)
    return sums.reshape(groups, VERDICTS)


def _agreement(sums: F64) -> Agreement:
    total = sums[[AGREES, WRONG, NULL]].sum()
    return Agreement(*(share(sums[verdict], total) for verdict in (AGREES, WRONG, NULL)))


def _errors(rows: Judgements, weight: F64, group: NDArray[Any], groups: int) -> list[Errors]:
    with_distance = np.flatnonzero(~np.isnan(rows.distance))
    with_distance = with_distance[np.argsort(group[with_distance], kind="stable")]
    # Sorted groups 0 0 2: bounds 0 2 2 3.
    bounds = np.searchsorted(group[with_distance], np.arange(groups + 1))
    located_weight = np.bincount(group, weight * rows.located, minlength=groups)
    return [
        _error(rows.distance[selection], weight[selection], located_weight[at])
        for at in range(groups)
        for selection in [with_distance[bounds[at] : bounds[at + 1]]]
    ]


def _error(distance: F64, weight: F64, located: float) -> Errors:
    far = quantiles(distance, weight)
    near, nearly = (share(weight[distance <= km].sum(), far.of).share for km in (NEAR_KM, FAR_KM))
    null = share(max(located - far.of, 0.0), located)
    return Errors(far.of, far.p50, far.p90, far.p99, far.max, near, nearly, null)


def metrics(score: Accuracy) -> dict[str, float | None]:
    """Return the metrics of a part by name; None if nothing can be measured."""
    values: dict[str, float | None] = {}
    for level in LEVELS:
        agreement = getattr(score, level)
        for kind in _KINDS:
            share = getattr(agreement, kind)
            values[f"{level}_{kind}"] = share.share if share.of else None
    far = score.kilometres
    values |= {"km_p50": far.p50, "km_p90": far.p90}
    values |= {"within_50_km": far.within_50, "within_100_km": far.within_100}
    if not far.of:
        values |= dict.fromkeys(("km_p50", "km_p90", "within_50_km", "within_100_km"))
    values["coordinates_null"] = far.null.share if far.null.of else None
    return values
