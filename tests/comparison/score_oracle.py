"""A score written slowly and plainly: every address of the truth looked up in every dataset."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import geolookup
from tests.comparison import oracle as of_diff
from tests.internals.comparison import Score, ScoredPart

Cells = dict[str, Any]
LEVELS = ("country", "region", "city")


@dataclass(frozen=True)
class Case:
    """One address: the truth's row and cells, and each dataset's cells and deciding source."""

    address: IPv4Address | IPv6Address
    row: int
    truth: Cells
    answers: Sequence[Cells]
    sources: Sequence[str | None]


def answer(engine: geolookup.Engine, address: object) -> tuple[Cells, str | None] | None:
    """What a dataset says of an address; None for one that has no answer."""
    data: Any = engine.lookup(str(address))["data"]
    if data is None:
        return None
    location = engine.explain(str(address))["layers"]["location"]
    return data["location"], location and location["source"]


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _differ(one: Cells, other: Cells, key: str) -> bool | None:
    mine, theirs = one.get(key), other.get(key)
    if mine is None or theirs is None:
        return None
    return _plain(mine) != _plain(theirs)


def differ(level: str, one: Cells, other: Cells) -> bool | None:
    """Whether two sides differ; None where they cannot be compared."""
    country = _differ(one, other, "country_code")
    if level == "country":
        return country
    keys = ("region_code", "region_name") if level == "region" else ("city_name",)
    said = [result for key in keys if (result := _differ(one, other, key)) is not None]
    return (said[0] or bool(country)) if said else None


def states(level: str, cells: Cells) -> bool:
    keys = {"region": ("region_code", "region_name"), "city": ("city_name",)}
    return any(cells.get(key) is not None for key in keys.get(level, ("country_code",)))


def verdict(level: str, truth: Cells, measured: Cells) -> str | None:
    """``agree``, ``wrong`` or ``null``; None where it does not count."""
    if not states(level, truth):
        return None
    if not states(level, measured):
        return "null"
    different = differ(level, truth, measured)
    return None if different is None else "wrong" if different else "agree"


def kilometres(one: Cells, other: Cells) -> float | None:
    ends = ([side.get(name) for name in ("latitude", "longitude")] for side in (one, other))
    return of_diff.kilometres(*ends)


Weights = Sequence[Fraction]


def _share(pairs: Iterable[tuple[bool, Fraction]]) -> tuple[Fraction, Fraction]:
    listed = list(pairs)
    return sum((w for hit, w in listed if hit), Fraction()), sum((w for _, w in listed), Fraction())


def _same(measured: Any, expected: tuple[Fraction, Fraction], approx: Any) -> None:
    count, of = map(float, expected)
    assert measured.count == approx(count, rel=1e-9, abs=1e-12)
    assert measured.of == approx(of, rel=1e-9, abs=1e-12)
    assert measured.share == approx(count / of if of else 0.0, rel=1e-9, abs=1e-12)


def _check_measured(
    measured: Any, cases: Sequence[Case], at: int, weights: Weights, approx: Any
) -> None:
    assert measured.of == approx(float(sum(weights)), rel=1e-9)
    for level in LEVELS:
        verdicts = [verdict(level, case.truth, case.answers[at]) for case in cases]
        for kind in ("agree", "wrong", "null"):
            hits = ((v == kind, w) for v, w in zip(verdicts, weights, strict=True) if v)
            _same(getattr(getattr(measured, level), kind), _share(hits), approx)
    _check_kilometres(measured.kilometres, cases, at, weights, approx)


def _check_kilometres(
    measured: Any, cases: Sequence[Case], at: int, weights: Weights, approx: Any
) -> None:
    far = [kilometres(case.truth, case.answers[at]) for case in cases]
    pairs = sorted((km, w) for km, w in zip(far, weights, strict=True) if km is not None)
    total = sum((w for _, w in pairs), Fraction())
    assert measured.of == approx(float(total), rel=1e-9)
    for name, percent in (("p50", 50), ("p90", 90), ("max", 100)):
        _check_quantile(getattr(measured, name), percent, pairs, total)
    for limit in (50, 100):
        near = sum((w for km, w in pairs if km <= limit), Fraction())
        share = float(near / total) if total else 0.0
        assert getattr(measured, f"within_{limit}") == approx(share, rel=1e-9, abs=1e-12)
    located = [
        (km is None, w)
        for item, km, w in zip(cases, far, weights, strict=True)
        if item.truth.get("latitude") is not None and item.truth.get("longitude") is not None
    ]
    _same(measured.null, _share(located), approx)


def _check_quantile(
    measured: float, percent: int, pairs: list[tuple[float, Fraction]], total: Fraction
) -> None:
    """Thirds are rounded as floats: at a tie a neighbour may be chosen."""
    slack, passed, legal = total * Fraction(1, 10**9), Fraction(), []
    for km, weight in pairs:
        if passed <= total * percent / 100 + slack and (
            passed + weight >= total * percent / 100 - slack
        ):
            legal.append(km)
        passed += weight
    assert any(abs(measured - km) < 1e-6 for km in legal or [0.0])


def check(
    score: Score, cases: Sequence[Case], parts: dict[str, dict[int, Fraction]], approx: Any
) -> None:
    """Hold every number of a score; ``parts`` are the weights of the cases, by number."""
    assert set(score.datasets[0].parts) == set(parts)
    # Networks that are widened may have the same name.
    exact = score.requests is None and score.truth[0].format == "csv"
    for name, weight in parts.items():
        selection = [at for at in range(len(cases)) if weight.get(at)]
        here, weights = [cases[at] for at in selection], [weight[at] for at in selection]
        for at, dataset in enumerate(score.datasets):
            _check_part(dataset.parts[name], here, at, weights, approx, exact=exact)


def _check_part(
    part: ScoredPart,
    cases: Sequence[Case],
    at: int,
    weights: Weights,
    approx: Any,
    *,
    exact: bool,
) -> None:
    _check_measured(part.score, cases, at, weights, approx)
    for level in LEVELS:
        networks = part.worst[level]
        total = getattr(part.score, level).wrong.count
        assert sum(network.wrong.count for network in networks) == approx(
            total, rel=1e-9, abs=1e-12
        )
        counts = [network.wrong.count for network in networks]
        assert counts == sorted(counts, reverse=True)
        if exact:
            assert len({network.network for network in networks}) == len(networks)
        assert all(network.truth and network.dataset for network in networks)
