"""Datasets scored against ground truth.

Strategy: ``truth_ranges`` or ``truth_addresses`` reads ground truth as a partition of the address
space; ``places`` numbers the names of all sides alike; ``joint`` overlays truth and datasets.
``agreement`` measures one dataset, ``breakdown`` its groups and worst networks, ``votes`` several
datasets together. This module combines the measures and evaluates gates, ``text`` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np

from geolookup.comparison import ComparedDataset, describe, open_dataset
from geolookup.comparison.gates import Gate, GateResult, Verdict, evaluate
from geolookup.comparison.scoring.agreement import (
    Accuracy,
    Judgements,
    judge_answers,
    measure,
    metrics,
    score_metrics,
)
from geolookup.comparison.scoring.breakdown import (
    CountryPair,
    Grouping,
    Sides,
    WorstNetwork,
    country_pairs,
    groupings,
    sources,
    worst_networks,
)
from geolookup.comparison.scoring.joint import IPV4, IPV6, Joint, Weights, overlaid
from geolookup.comparison.scoring.own_columns import (
    OwnTruth,
    own_metric_names,
    own_metrics,
    own_of_datasets,
)
from geolookup.comparison.scoring.places import ADDRESSES, Truth, TruthFile, together
from geolookup.comparison.scoring.truth_addresses import is_table, read_addresses
from geolookup.comparison.scoring.truth_ranges import AUTO, read_ranges
from geolookup.comparison.scoring.votes import Majority, Pair, majorities, pairs
from geolookup.comparison.traffic import Requests, Traffic
from geolookup.contract.fields import Field
from geolookup.dataset.files import Dataset
from geolookup.errors import DiffError

Path = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class Group:
    """The truth of one country, family, prefix length or source; the name None is unknown."""

    name: str | None
    score: Accuracy


@dataclass(frozen=True, slots=True)
class ScoredPart:
    """How far one dataset agrees with the truth, in one unit."""

    unit: str  # "addresses", "/64 networks", "rows of the truth" or "requests"
    score: Accuracy
    by: Mapping[str, Sequence[Group]]  # family, country, prefix_length, source
    country_pairs: Sequence[CountryPair]  # wrong ones
    worst: Mapping[str, Sequence[WorstNetwork]]  # by level: country, region, city
    metrics: Mapping[str, float | None]  # by name, for gates; None: nothing to measure


@dataclass(frozen=True, slots=True)
class DatasetScore(ComparedDataset):
    """One dataset and its score by part: ipv4, ipv6, networks and, with traffic, requests."""

    parts: Mapping[str, ScoredPart]


@dataclass(frozen=True, slots=True)
class Score(GateResult):
    """Datasets scored against ground truth; ``pairs`` and ``majority`` are of several."""

    truth: Sequence[TruthFile]
    requests: Requests | None
    datasets: Sequence[DatasetScore]
    pairs: Sequence[Pair]
    majority: Mapping[str, Majority]  # by part
    gates: Sequence[Verdict]


def score(
    datasets: Path | Sequence[Path] = (),
    *,
    truth: Path | Sequence[Path],
    truth_format: str = AUTO,
    fail_if: Iterable[str] = (),
    traffic: Path | None = None,
    traffic_count: str | None = None,
    ip_column: str = "ip",
    input_format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    worst: int = 10,
) -> Score:
    """Score datasets or stores against ground truth; without one, the default dataset.

    ``truth`` is one file or several; the first that states a location for an address decides.
    A file is a source of any format that ``geolookup build`` reads, such as a geofeed
    (RFC 8805), or a table of single addresses with country, region, city, latitude and
    longitude. Either may have own columns of the datasets, named ``own.NAME``: a value agrees
    if it is equal. ``truth_format`` is a source format, "addresses" for such a table, or "auto".

    The result has ``truth`` (the files and their rows), ``requests``, ``datasets`` (path,
    name, generation and ``parts``), ``pairs`` and ``majority`` (of several datasets) and
    ``gates``. The parts are "ipv4" and "ipv6" in addresses (IPv6 in networks of /64),
    "networks" in rows of the truth and, with ``traffic``, "requests". Shares are 0 to 1,
    distances kilometres.

    ``fail_if`` are gates such as "country_agree < 95%"; ``failed`` of the result lists those
    that fail. ``worst`` is the number of listed pairs of countries, and of listed
    networks for each level. ``traffic``, ``traffic_count``, ``ip_column``, ``input_format``,
    ``delimiter`` and ``header`` are as in ``diff``.

    Raises DatasetError for a missing or damaged dataset, BuildError or TableFileError for an
    unusable file of truth or traffic, DiffError for a malformed gate or truth without a row
    that a lookup reaches, ValueError for a ``worst`` below 0 or an unknown format of traffic.
    """
    if worst < 0:
        raise ValueError(f"worst is {worst}; it is a number of networks, 0 or more")
    sides = [open_dataset(path) for path in _paths(datasets) or (None,)]
    own = own_of_datasets(sides)
    gates = score_metrics(own_metric_names(own)).gates(fail_if)
    requests = None
    if traffic is not None:
        requests = Traffic(traffic, ip_column, traffic_count, input_format, delimiter, header)
    if not (files_of_truth := _paths(truth)):
        raise ValueError("name at least one file of truth")
    stated = [_read(path, truth_format, own) for path in files_of_truth]
    ground_truth = together([truth for truth, _ in stated])
    own_truths = [truth for _, truth in stated if truth is not None]
    of_own = [own_metrics(own_truths, side) for side in sides]
    joint = overlaid(ground_truth, sides, requests)
    if not len(joint.row) and not any(any(parts.values()) for parts in of_own):
        files = ", ".join(file.path for file in ground_truth.files)
        problem = f"{files}: no row states the location of a public address"
        raise DiffError(problem, "name others")
    verdicts = [judge_answers(joint.truth, answers.side) for answers in joint.datasets]
    scored = [
        _score_dataset(ground_truth, joint, at, verdicts[at], side, worst, of_own[at])
        for at, side in enumerate(sides)
    ]
    several = len(scored) > 1
    return Score(
        truth=ground_truth.files,
        requests=joint.requests,
        datasets=scored,
        pairs=pairs(joint),
        majority=majorities(joint, verdicts) if several else {},
        gates=[_verdict(gate, scored) for gate in gates],
    )


def _paths(paths: Path | Sequence[Path]) -> list[str]:
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    return [fspath(path) for path in several]


def _read(path: str, format_name: str, own: Sequence[Field]) -> tuple[Truth, OwnTruth | None]:
    if format_name == ADDRESSES or (format_name == AUTO and is_table(path)):
        return read_addresses(path, own)
    return read_ranges(path, format_name, own)


def _score_dataset(
    truth: Truth,
    joint: Joint,
    at: int,
    verdicts: Judgements,
    dataset: Dataset,
    worst: int,
    of_own: Mapping[str, Mapping[str, float]],
) -> DatasetScore:
    about = describe(dataset)
    by_source = sources(joint, at, dataset.manifest.metadata())
    by = {**groupings(truth, joint), "source": by_source}
    sides = Sides(
        answers=joint.datasets[at],
        truth_place=truth.rows.location[joint.row],
        truth=truth.places,
        sources=list(by_source.names),
        widened=truth.of_addresses or joint.requests is not None,
    )
    parts = {
        name: _part(part, verdicts, by, sides, worst, of_own.get(name, {}))
        for name, part in joint.parts.items()
    }
    return DatasetScore(about.path, about.name, about.generation, parts)


def _part(
    part: Weights,
    verdicts: Judgements,
    by: Mapping[str, Grouping],
    sides: Sides,
    worst: int,
    of_own: Mapping[str, float],
) -> ScoredPart:
    rows = np.flatnonzero(part.weight)
    selection, weight = verdicts.take(rows), part.weight[rows]
    # One group: all rows have its number, 0.
    total = measure(selection, weight, np.zeros(len(rows), np.int64), 1)[0]
    return ScoredPart(
        unit=part.unit,
        score=total,
        by={key: _groups(grouping, selection, weight, rows) for key, grouping in by.items()},
        country_pairs=country_pairs(sides, verdicts, part.weight, worst),
        worst=worst_networks(sides, verdicts, part.weight, worst),
        metrics={**metrics(total), **of_own},
    )


def _groups(grouping: Grouping, judged: Judgements, weight: Any, rows: Any) -> list[Group]:
    """Return the groups with any weight, in the order of their names' numbers."""
    scores = measure(judged, weight, grouping.group[rows], len(grouping.names))
    return [
        Group(name, score) for name, score in zip(grouping.names, scores, strict=True) if score.of
    ]


def _verdict(gate: Gate, datasets: Sequence[DatasetScore]) -> Verdict:
    """Evaluate a gate on every dataset.

    Without a part it is measured in the addresses of each family. A part without truth is skipped.
    Raises DiffError if nothing is measured: no gate passes unmeasured.
    """
    values = dict(_values(gate, datasets))
    if not values:
        hint = "the truth states nothing that it could measure"
        if gate.part is not None and not all(gate.part in dataset.parts for dataset in datasets):
            hint = "there are no requests without --traffic"
        raise DiffError(f"nothing to measure for gate {gate.text!r}", hint)
    return evaluate(gate, values)


def _values(gate: Gate, datasets: Sequence[DatasetScore]) -> Iterator[tuple[str, float]]:
    for number, dataset in enumerate(datasets, 1):
        before = f"{number}." if len(datasets) > 1 else ""
        for part in (IPV4, IPV6) if gate.part is None else (gate.part,):
            value = dataset.parts[part].metrics.get(gate.metric) if part in dataset.parts else None
            if value is not None:
                yield f"{before}{part}.{gate.metric}", value
