"""Datasets scored against ground truth: the comparison of ``diff`` with OLD = the truth.

Only what the truth states is counted. ``agree``, ``wrong`` and ``missing`` (unknown in the dataset)
add up to it. Regions of which one side has only a code and the other only a name cannot be
compared and are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from geolookup.comparison import (
    ComparedDataset,
    Overlaid,
    by_source,
    describe,
    lay_over_each,
    open_dataset,
)
from geolookup.comparison.gates import (
    ALL,
    KILOMETRES,
    Gate,
    GateResult,
    Metrics,
    Verdict,
    evaluate,
    measured,
)
from geolookup.comparison.measures import (
    F64,
    Count,
    FieldChange,
    Kilometres,
    LocationMoves,
    Move,
    Pairs,
    Share,
    quantiles,
    share,
)
from geolookup.comparison.traffic import Requests, Traffic
from geolookup.comparison.truth import ADDRESSES, AUTO, TruthFile, compile_truth
from geolookup.comparison.values import COMPARED, Values
from geolookup.errors import DiffError

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]
LEVELS = ("country", "region", "city")
KINDS = ("agree", "wrong", "missing")
_QUANTILES = KILOMETRES[:2]
_NEAR_KM = (50, 100)
#: The names of the metrics of a location, in the order of a report.
NAMES = (
    *(f"{level}_{kind}" for level in LEVELS for kind in KINDS),
    *_QUANTILES,
    *("within_50_km", "within_100_km", "coordinates_missing"),
)


def score_metrics(own: Iterable[str] = ()) -> Metrics:
    """Return the metrics of scores; ``own`` are paths of own columns."""
    of_fields = (f"{kind}.{path}" for path in (*COMPARED, *own) for kind in KINDS)
    parts = ("ipv4", "ipv6", ALL)
    return Metrics((*NAMES, *of_fields), parts, "docs/data/score.md", "country_agree < 95%")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of what the truth states and can be compared."""

    agree: Share
    wrong: Share
    missing: Share


@dataclass(frozen=True, slots=True)
class Errors(Kilometres):
    """The distance from the truth, where both have coordinates."""

    within_50: Share
    within_100: Share
    missing: Share  # of the truth with coordinates: those without any in the dataset


@dataclass(frozen=True, slots=True)
class ScoredSource:
    """The truth whose location one source of the dataset decided."""

    source: str
    levels: Mapping[str, Agreement]  # country, region, city
    kilometres: Errors


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """How far one dataset agrees with the truth, in one unit."""

    unit: str  # "addresses", "/64 networks" or "requests"
    of: Count  # of which the truth states a location or a network
    levels: Mapping[str, Agreement]  # country, region, city
    kilometres: Errors
    fields: Mapping[str, Agreement]  # by path: the fields and own columns that the truth states
    sources: Sequence[ScoredSource]
    metrics: Mapping[str, float | None]  # by name, for gates; None: nothing to measure


@dataclass(frozen=True, slots=True)
class DatasetScore(ComparedDataset):
    """One dataset and its score by part: ipv4, ipv6 and, with traffic, all."""

    parts: Mapping[str, ScoredPart]


@dataclass(frozen=True, slots=True)
class Score(GateResult):
    """Datasets scored against ground truth."""

    truth: Sequence[TruthFile]
    requests: Requests | None
    datasets: Sequence[DatasetScore]
    gates: Sequence[Verdict]


def score(
    datasets: Paths = (),
    *,
    truth: Paths,
    truth_format: str = AUTO,
    fail_if: Iterable[str] = (),
    traffic: str | PathLike[str] | None = None,
    traffic_count: str | None = None,
    ip_column: str = "ip",
    input_format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
) -> Score:
    """Score datasets or stores against ground truth; without one, the default dataset.

    ``truth`` is one file or several; the first that states a location for an address decides.
    A file is a source of any format that ``geolookup build`` reads, such as a geofeed
    (RFC 8805), or a table of single addresses with country, region, city, latitude and
    longitude. Either may have own columns of the datasets, named ``own.NAME``.
    ``truth_format`` is a source format, "addresses" for such a table, or "auto".

    The result has ``truth`` (the files and their rows), ``requests``, ``datasets`` (path,
    name, generation and ``parts``) and ``gates``. The parts are "ipv4" and "ipv6" in addresses
    (IPv6 in networks of /64 unless the truth lists single addresses); with ``traffic`` they count
    requests, and "all" has both families. Shares are 0 to 1, distances kilometres.

    ``fail_if`` are gates such as "country_agree < 95%"; ``failed`` of the result lists those
    that fail. ``traffic``, ``traffic_count``, ``ip_column``, ``input_format``, ``delimiter`` and
    ``header`` are as in ``diff``.

    Raises DatasetError for a missing or damaged dataset, BuildError or TableFileError for an
    unusable file of truth or traffic, DiffError for a malformed gate or truth without a row
    that a lookup reaches, ValueError for an unknown format of traffic.
    """
    sides = [open_dataset(path) for path in _paths(datasets) or (None,)]
    declared = {field.path: field for side in sides for field in side.schema.own}
    gates = score_metrics(declared).gates(fail_if)
    requests = None
    if traffic is not None:
        requests = Traffic(traffic, ip_column, traffic_count, input_format, delimiter, header)
    if not (files := _paths(truth)):
        raise ValueError("name at least one file of truth")
    with TemporaryDirectory(prefix="geolookup-", ignore_cleanup_errors=True) as folder:
        dataset, stated = compile_truth(
            files, truth_format, list(declared.values()), Path(folder, "truth")
        )
        overlaid = lay_over_each(
            dataset,
            sides,
            requests,
            single_addresses=all(file.format == ADDRESSES for file in stated),
        )
        scored = [_score_dataset(part) for part in overlaid]
    return Score(
        truth=stated,
        requests=overlaid[0].requests,
        datasets=scored,
        gates=[_verdict(gate, scored) for gate in gates],
    )


def _paths(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return [fspath(path) for path in several]


def _score_dataset(overlaid: Overlaid) -> DatasetScore:
    about = describe(overlaid.new)
    parts = {name: _part(overlaid, name) for name in overlaid.changes}
    return DatasetScore(about.path, about.name, about.generation, parts)


def _part(overlaid: Overlaid, name: str) -> ScoredPart:
    values, changes = overlaid.values, overlaid.changes[name]
    locations = changes.locations
    levels, kilometres = _measures(values, locations, changes.moves)
    with_folded_names = replace(
        overlaid, values=replace(values, location={**values.location, **values.folded})
    )
    fields = {
        path: _of_field(change)
        for path, change in with_folded_names.field_changes(name).items()
        if change.old
    }
    return ScoredPart(
        unit=overlaid.units[name],
        of=Count(changes.answers.weight[changes.answers.in_old].sum()),
        levels=levels,
        kilometres=kilometres,
        fields=fields,
        sources=list(_sources(overlaid, name)),
        metrics=_metrics(levels, kilometres, fields),
    )


def _sources(overlaid: Overlaid, name: str) -> Iterator[ScoredSource]:
    changes = overlaid.changes[name]
    for source, rows in by_source(changes.new_source, overlaid.new):
        pairs = changes.locations.take(rows[changes.locations.old[rows] > 0])
        if len(pairs.weight):
            moves = LocationMoves(overlaid.values, pairs)
            yield ScoredSource(source, *_measures(overlaid.values, pairs, moves))


def _measures(
    values: Values, pairs: Pairs, moves: LocationMoves
) -> tuple[dict[str, Agreement], Errors]:
    levels = {level: _of_level(moves.by_level[level], pairs.weight) for level in LEVELS}
    return levels, _errors(values, pairs, moves.distances)


def _of_level(move: Move, weight: F64) -> Agreement:
    masks = (move.compared & ~move.moved, move.moved, move.in_old & ~move.in_new)
    return _agreement(*(float(weight[mask].sum()) for mask in masks))


def _of_field(change: FieldChange) -> Agreement:
    wrong = change.changed.weight
    return _agreement(change.both.weight - wrong, wrong, change.null_gained.weight)


def _agreement(*weights: float) -> Agreement:
    """Return the shares of the weights that agree, are wrong and are missing."""
    return Agreement(*(share(weight, sum(weights)) for weight in weights))


def _errors(values: Values, pairs: Pairs, distances: F64) -> Errors:
    weight = pairs.weight
    in_truth = ~np.isnan(values.old_coordinates[:, pairs.old]).any(axis=0)
    far = quantiles(distances, weight)
    within_50, within_100 = (share(weight[distances <= km].sum(), far.of) for km in _NEAR_KM)
    missing = share(weight[in_truth & np.isnan(distances)].sum(), weight[in_truth].sum())
    return Errors(far.of, far.p50, far.p90, far.p99, far.max, within_50, within_100, missing)


def _metrics(
    levels: Mapping[str, Agreement], kilometres: Errors, fields: Mapping[str, Agreement]
) -> dict[str, float | None]:
    """Return the metrics by name; a field that the truth does not state has none."""
    shares = {f"{level}_{kind}": getattr(levels[level], kind) for level in LEVELS for kind in KINDS}
    shares |= {f"within_{km}_km": getattr(kilometres, f"within_{km}") for km in _NEAR_KM}
    shares["coordinates_missing"] = kilometres.missing
    shares |= {f"{kind}.{path}": getattr(fields[path], kind) for path in fields for kind in KINDS}
    far = {name: getattr(kilometres, name.removeprefix("km_")) for name in _QUANTILES}
    return {
        **{name: value if kilometres.of else None for name, value in far.items()},
        **{name: part.share if part.of else None for name, part in shares.items()},
    }


def _verdict(gate: Gate, datasets: Sequence[DatasetScore]) -> Verdict:
    """Evaluate a gate on every dataset; DiffError if nothing is measured: no gate then passes."""
    values = {
        f"{number}.{name}" if len(datasets) > 1 else name: value
        for number, dataset in enumerate(datasets, 1)
        for name, value in measured(
            gate, {name: part.metrics for name, part in dataset.parts.items()}
        ).items()
    }
    if not values:
        hint = "the truth states nothing that it could measure"
        if gate.part == ALL and ALL not in datasets[0].parts:
            hint = "there are no requests without --traffic"
        raise DiffError(f"nothing to measure for gate {gate.text!r}", hint)
    return evaluate(gate, values)
