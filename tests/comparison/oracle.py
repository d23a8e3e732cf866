"""A comparison written slowly and plainly: every address looked up in both datasets."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import geolookup
from tests.internals.comparison import Part

Answer = dict[str, Any]
LEVELS = ("location", "country", "region", "city", "asn")


@dataclass(frozen=True)
class SeenAnswers:
    """What both datasets say of one address: by contract path, and the location's source."""

    old: Answer
    new: Answer
    old_source: str | None
    new_source: str | None


def seen(old: geolookup.Engine, new: geolookup.Engine, address: str) -> SeenAnswers | None:
    """Return None for an address that has no answer."""
    answers = [engine.lookup(address)["data"] for engine in (old, new)]
    if answers[0] is None:
        return None
    layers = [engine.explain(address)["layers"]["location"] for engine in (old, new)]
    sources = [layer and layer["source"] for layer in layers]
    return SeenAnswers(_flat(answers[0]), _flat(answers[1]), *sources)


def _flat(data: Any) -> Answer:
    answer = {
        f"{group}.{member}": value
        for group in ("location", "currency", "network")
        for member, value in data[group].items()
    }
    return {"network.asn": None, **answer, "time.zone": data["time"]["zone"]}


LOCATION = ("location.", "currency.", "time.")


def coverage(sight: SeenAnswers, prefix: tuple[str, ...] = ("",)) -> tuple[bool, bool]:
    """Whether OLD and NEW know anything, of the paths that begin so."""
    sides = (
        [v for path, v in side.items() if path.startswith(prefix)]
        for side in (sight.old, sight.new)
    )
    old, new = (any(value is not None for value in side) for side in sides)
    return old, new


def folded(name: str) -> str:
    """A name without case and accents, as the names of these tests differ in no more."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def whole(weight: float | Fraction) -> int:
    """A weight as a count: above 0 it is at least 1."""
    return max(round(float(weight)), int(weight > 0))


def has_moved(level: str, sight: SeenAnswers) -> bool | None:
    """Whether it moved; None where it cannot be compared."""

    def pair(path: str) -> bool | None:
        old, new = sight.old.get(path), sight.new.get(path)
        if old is None or new is None:
            return None
        return folded(old) != folded(new) if path.endswith("_name") else old != new

    country = pair("location.country_code")
    if level == "country":
        return country
    if level == "asn":
        return pair("network.asn")
    region = pair("location.region_code")
    if region is None:
        region = pair("location.region_name")
    region = None if region is None else region or bool(country)
    if level == "region":
        return region
    city = pair("location.city_name")
    if city is not None:
        city = city or bool(country) or (bool(region) and (kilometres_of(sight) or 0) > 100)
    if level == "city":
        return city
    said = [moved for moved in (country, region, city) if moved is not None]
    return any(said) if said else None


def kind(sight: SeenAnswers) -> str | None:
    """What changed of an address, one of ``changes.KINDS``; None where nothing is known."""
    old, new = coverage(sight)
    if not (old and new):
        return "lost" if old else "gained" if new else None
    for level in ("country", "region", "city"):
        if has_moved(level, sight):
            return f"{level} moved"
    differ = {path for path in sight.old if sight.old[path] != sight.new[path]}
    if any(path.startswith(LOCATION) for path in differ):
        return "other location value"
    return "network value" if differ else "unchanged"


def country_flows(all_seen: Iterable[SeenAnswers]) -> Counter[tuple[str, str]]:
    """Addresses by country in OLD and in NEW, where both are known and differ."""
    codes = ((e.old["location.country_code"], e.new["location.country_code"]) for e in all_seen)
    return Counter(pair for pair in codes if None not in pair and pair[0] != pair[1])


def kilometres_of(sight: SeenAnswers) -> float | None:
    old, new = (
        [side.get(f"location.{name}") for name in ("latitude", "longitude")]
        for side in (sight.old, sight.new)
    )
    return kilometres(old, new)


def kilometres(one: Sequence[Any], other: Sequence[Any]) -> float | None:
    """The distance of two places in degrees, latitude first; None where a number is."""
    if None in (*one, *other):
        return None
    # The special case of Vincenty's formula for a sphere, not the haversine one.
    (p, a), (q, b) = ([math.radians(number) for number in end] for end in (one, other))
    across = math.cos(q) * math.sin(b - a)
    along = math.cos(p) * math.sin(q) - math.sin(p) * math.cos(q) * math.cos(b - a)
    beside = math.sin(p) * math.sin(q) + math.cos(p) * math.cos(q) * math.cos(b - a)
    return 6371.0088 * math.atan2(math.hypot(across, along), beside)


def _quantile(sorted_values: list[float], percent: int) -> float:
    if not sorted_values:
        return 0.0
    return sorted_values[math.ceil(Fraction(percent * len(sorted_values), 100)) - 1]


def _share(hits: int, among: int) -> float:
    return hits / among if among else 0.0


def moves(all_seen: list[SeenAnswers]) -> dict[str, tuple[int, int]]:
    actual = {}
    for level in LEVELS:
        said = [moved for sight in all_seen if (moved := has_moved(level, sight)) is not None]
        actual[level] = sum(said), len(said)
    return actual


def metrics(all_seen: list[SeenAnswers]) -> dict[str, float]:
    actual = {f"{level}_moved": _share(*moved) for level, moved in moves(all_seen).items()}
    far = sorted(km for sight in all_seen if (km := kilometres_of(sight)) is not None)
    for percent in (50, 90, 99):
        actual[f"km_p{percent}"] = _quantile(far, percent)
    actual["km_max"] = _quantile(far, 100)
    known = [coverage(sight) for sight in all_seen]
    actual["coverage_lost"] = _share(known.count((True, False)), sum(old for old, _ in known))
    actual["coverage_gained"] = _share(known.count((False, True)), sum(new for _, new in known))
    for path in all_seen[0].old if all_seen else ():
        pairs = [(e.old[path], e.new[path]) for e in all_seen]
        there = [(old is not None, new is not None) for old, new in pairs]
        both, lost, gained = map(there.count, ((True, True), (True, False), (False, True)))
        changed = sum(old != new for old, new in pairs if None not in (old, new))
        actual[f"null_gained.{path}"] = _share(lost, both + lost)
        actual[f"null_lost.{path}"] = _share(gained, both + gained)
        actual[f"changed.{path}"] = _share(changed, both)
    return actual


def movers(all_seen: Iterable[SeenAnswers]) -> dict[tuple[Any, Any], tuple[int, int]]:
    """Moved and comparable addresses by network of NEW, where any moved."""
    moved: Counter[tuple[Any, Any]] = Counter()
    compared: Counter[tuple[Any, Any]] = Counter()
    for sight in all_seen:
        name = sight.new["network.asn"], sight.new["network.asn_organization"]
        verdict = has_moved("location", sight)
        compared[name] += verdict is not None
        moved[name] += bool(verdict)
    return {name: (count, compared[name]) for name, count in moved.items() if count}


def check(part: Part, all_seen: list[SeenAnswers], unit: float, approx: Any) -> None:
    """Hold every number of a part against the oracle; ``unit`` is the weight of an address."""
    expected = metrics(all_seen)
    for name, value in part.metrics.items():
        # Kilometres of less than a millimetre are rounding.
        assert value == approx(expected.get(name, 0.0), rel=1e-9, abs=1e-6), name
    assert set(expected) <= set(part.metrics)
    for level, (moved, among) in moves(all_seen).items():
        assert _counts(part.moved[level]) == (whole(moved * unit), whole(among * unit))
    known = [coverage(sight) for sight in all_seen]
    assert part.coverage.old == whole(sum(old for old, _ in known) * unit)
    assert part.coverage.new == whole(sum(new for _, new in known) * unit)
    actual = {(mover.asn, mover.asn_organization): _counts(mover.moved) for mover in part.movers}
    expected_movers = movers(all_seen)
    assert actual == {
        name: (whole(m * unit), whole(c * unit)) for name, (m, c) in expected_movers.items()
    }
    assert sum(mover.of_all for mover in part.movers) == approx(1.0 if actual else 0.0)
    for role, changes in (("old", part.old_sources), ("new", part.new_sources)):
        of_source = {
            name: [sight for sight in all_seen if getattr(sight, f"{role}_source") == name]
            for name in {getattr(item, f"{role}_source") for item in all_seen} - {None}
        }
        assert {entry.source for entry in changes} == set(of_source)
        for change in changes:
            _check_source(change, of_source[change.source], unit, approx)


def _counts(share: Any) -> tuple[int, int]:
    assert {type(share.count), type(share.of)} == {int}
    return share.count, share.of


def _check_source(change: Any, all_seen: list[SeenAnswers], unit: float, approx: Any) -> None:
    expected = metrics(all_seen)
    for level, (moved, among) in moves(all_seen).items():
        if level != "asn":
            assert _counts(change.moved[level]) == (whole(moved * unit), whole(among * unit))
    for name in ("p50", "p90", "p99", "max"):
        assert getattr(change.kilometres, name) == approx(expected[f"km_{name}"], abs=1e-6)
    known = [coverage(sight, LOCATION) for sight in all_seen]
    assert change.location.lost.count == whole(known.count((True, False)) * unit)
    assert change.location.gained.count == whole(known.count((False, True)) * unit)
