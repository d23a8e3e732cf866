"""Datasets scored against ground truth: the comparison of ``diff`` with OLD = the truth.

Only values of fields that a file of the truth states are counted, not those that follow from its
countries. ``agree``, ``wrong`` and ``missing`` (unknown in the dataset) sum to them. A region with
only a code on one side and only a name on the other cannot be compared and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from geolookup.comparison import (
    ComparedDataset,
    Overlaid,
    by_source,
    describe,
    lay_over_all,
    open_dataset,
)
from geolookup.comparison.change_table import write_rows
from geolookup.comparison.dataset_pair import DatasetPair
from geolookup.comparison.gates import (
    ALL,
    KILOMETRES,
    Gate,
    GateResult,
    Metrics,
    Verdict,
    evaluate,
    gate_values,
)
from geolookup.comparison.measures import (
    Kilometres,
    LocationMoves,
    Move,
    Pairs,
    Share,
    share,
    whole,
)
from geolookup.comparison.traffic import Requests, Traffic
from geolookup.comparison.truth import ADDRESSES, AUTO, TruthFile, compile_truth
from geolookup.comparison.values import Values
from geolookup.contract.fields import Field
from geolookup.contract.schema import CONTRACT
from geolookup.dataset.intervals import F64, Bools
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
    paths = *(field.path for field in CONTRACT.by_source_column.values()), *own
    of_fields = (f"{kind}.{path}" for path in paths for kind in KINDS)
    parts = ("ipv4", "ipv6", ALL)
    return Metrics((*NAMES, *of_fields), parts, "docs/data/compare.md", "country_agree < 95%")


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of the comparable values of the truth."""

    agree: Share
    wrong: Share
    missing: Share


@dataclass(frozen=True, slots=True)
class Errors(Kilometres):
    """The distance from the truth, if both have coordinates."""

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
    of: int  # with a location or a network in the truth
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
    rows: str | PathLike[str] | None = None,
    force: bool = False,
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

    ``rows`` is a file for the ranges where the one dataset lacks a value of the truth or has
    another one, in any spelling: .csv, .jsonl or .parquet, with the columns of ``diff_table``.
    Before is the truth, after the dataset. ``force`` replaces an existing file.

    Raises DatasetError for a missing or damaged dataset, BuildError or TableFileError for an
    unusable file of truth or traffic, DiffError for a malformed gate or truth without a row
    that a lookup reaches, OutputError if ``rows`` cannot be written, ValueError for an unknown
    format of traffic and for ``rows`` of several datasets.
    """
    sides = [open_dataset(path) for path in _paths(datasets) or (None,)]
    declared = {field.path: field for side in sides for field in side.schema.own}
    gates = score_metrics(declared).gates(fail_if)
    requests = None
    if traffic is not None:
        requests = Traffic(traffic, ip_column, traffic_count, input_format, delimiter, header)
    if not (files := _paths(truth)):
        raise ValueError("name at least one file of truth")
    if "" in files:
        raise DiffError("the path of a truth is empty", "name a file")
    if rows is not None and len(sides) > 1:
        raise ValueError(f"rows need one dataset, not {len(sides)}; name one")
    with TemporaryDirectory(prefix="geolookup-", ignore_cleanup_errors=True) as folder:
        compiled = compile_truth(
            files, truth_format, list(declared.values()), Path(folder, "truth")
        )
        if rows is not None:
            names = tuple(field.path for field in compiled.fields)
            pair = DatasetPair(compiled.dataset, sides[0], names, in_old=True)
            write_rows(pair, fspath(rows), force=force)
        overlaid = lay_over_all(
            compiled.dataset,
            sides,
            requests,
            single_addresses=all(file.format == ADDRESSES for file in compiled.files),
        )
        scores = [_score_dataset(part, compiled.fields) for part in overlaid]
    return Score(
        truth=compiled.files,
        requests=overlaid[0].requests,
        datasets=scores,
        gates=[_verdict(gate, scores) for gate in gates],
    )


def _paths(paths: Paths) -> list[str]:
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return [fspath(path) for path in several]


def _score_dataset(overlaid: Overlaid, fields: Sequence[Field]) -> DatasetScore:
    about = describe(overlaid.new)
    parts = {name: _part(overlaid, name, fields) for name in overlaid.changes}
    return DatasetScore(about.path, about.name, about.generation, parts)


def _part(overlaid: Overlaid, name: str, fields: Sequence[Field]) -> ScoredPart:
    changes = overlaid.changes[name]
    levels, kilometres = _measures(overlaid.values, changes.locations, changes.moves)
    by_field = _by_field(overlaid, name, fields)
    return ScoredPart(
        unit=overlaid.units[name],
        of=whole(changes.answers.weight[changes.answers.in_old].sum()),
        levels=levels,
        kilometres=kilometres,
        fields=by_field,
        sources=list(_sources(overlaid, name)),
        metrics=_metrics(levels, kilometres, by_field),
    )


def _by_field(overlaid: Overlaid, name: str, fields: Sequence[Field]) -> dict[str, Agreement]:
    """Return the agreement by path of the fields with a value in the truth of this part."""
    moves, sums = overlaid.changes[name].moves, overlaid.field_sums(name)
    return {
        field.path: _of_move(moves.by_name[field.path], moves.weight)
        if field.path in moves.by_name
        else _agreement(of.both - of.changed, of.changed, of.null_gained)
        for field in fields
        if (of := sums[field.path]).old
    }


def _sources(overlaid: Overlaid, name: str) -> Iterator[ScoredSource]:
    changes = overlaid.changes[name]
    for source, numbers in by_source(changes.new_source, overlaid.new):
        rows = numbers[changes.locations.old[numbers] > 0]
        if len(rows):
            pairs, moves = changes.locations.take(rows), changes.moves.take(rows)
            yield ScoredSource(source, *_measures(overlaid.values, pairs, moves))


def _measures(
    values: Values, pairs: Pairs, moves: LocationMoves
) -> tuple[dict[str, Agreement], Errors]:
    levels = {level: _of_move(moves.by_level[level], moves.weight) for level in LEVELS}
    return levels, _errors(~np.isnan(values.old_coordinates[:, pairs.old]), moves)


def _of_move(move: Move, weight: F64) -> Agreement:
    masks = (move.compared & ~move.moved, move.moved, move.in_old & ~move.in_new)
    return _agreement(*(float(weight[mask].sum()) for mask in masks))


def _agreement(*weights: float) -> Agreement:
    """Return the shares of the weights that agree, are wrong and are missing."""
    return Agreement(*(share(weight, sum(weights)) for weight in weights))


def _errors(in_truth: Bools, moves: LocationMoves) -> Errors:
    """Return the distances; ``in_truth`` marks latitude and longitude that the truth states."""
    weight, distances, far = moves.weight, moves.distances, moves.kilometres()
    both = weight[~np.isnan(distances)].sum()
    within_50, within_100 = (share(weight[distances <= km].sum(), both) for km in _NEAR_KM)
    located = in_truth.all(axis=0)
    missing = share(weight[located & np.isnan(distances)].sum(), weight[located].sum())
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
        for name, value in gate_values(
            gate, {name: part.metrics for name, part in dataset.parts.items()}
        ).items()
    }
    if not values:
        hint = "the truth states nothing that it could measure"
        if gate.part == ALL and ALL not in datasets[0].parts:
            hint = "there are no requests without --traffic"
        raise DiffError(f"nothing to measure for gate {gate.text!r}", hint)
    return evaluate(gate, values)
