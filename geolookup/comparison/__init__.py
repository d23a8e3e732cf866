"""Two datasets compared: by addresses or by requests, not by rows.

Strategy: ``overlay`` overlays the intervals of both, ``values`` reads both tables into one set of
codes, ``changes`` finds the distinct pairs of rows, ``measures`` sums what moved between them;
``traffic`` weights by requests. This module reads the datasets (``read``) and combines the sums
(``measure``). ``gates`` evaluates, ``report`` prints, ``scoring`` compares with ground truth.

Changes as rows: ``dataset_pair`` has the fields, values and conditions, ``changed_intervals`` the
ranges, ``change_table`` the columns, ``change_files`` the files.

A part is one address family, or both together if requests are counted: requests add up over
families, addresses do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

import geolookup
from geolookup.comparison.changes import Changes, Mover, changes_of, top_movers
from geolookup.comparison.gates import (
    ALL,
    Gate,
    GateResult,
    Verdict,
    change_metrics,
    diff_metrics,
    judge,
)
from geolookup.comparison.measures import (
    Coverage,
    FieldChange,
    Kilometres,
    Pairs,
    Share,
    SourceChange,
    coverage,
    location_changes,
    network_changes,
    own_changes,
    quantiles,
    source_change,
)
from geolookup.comparison.overlay import Answers, Joint, OwnAnswers, joints, together
from geolookup.comparison.own_columns import (
    ColumnChanges,
    column_changes,
    either_has,
    read_own_values,
)
from geolookup.comparison.traffic import Requests, Traffic, count_requests
from geolookup.comparison.values import Pair, Values, read_values
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import UNITS
from geolookup.dataset.metadata import Metadata

_UNITS = {f"ipv{family}": unit for family, unit in UNITS.items()}


@dataclass(frozen=True, slots=True)
class ComparedDataset:
    """One of the two datasets."""

    path: str
    name: str
    generation: str


@dataclass(frozen=True, slots=True)
class Part:
    """The changes in one family, or in all requests. Counts are in ``unit``."""

    unit: str  # "addresses", "/64 networks" (for IPv6) or "requests"
    coverage: Coverage  # of known addresses
    moved: Mapping[str, Share]  # location, country, region, city, asn
    kilometres: Kilometres
    fields: Mapping[str, FieldChange]  # by contract path
    old_sources: Sequence[SourceChange]  # by the source that decided the location in OLD
    new_sources: Sequence[SourceChange]
    movers: Sequence[Mover]
    metrics: Mapping[str, float]  # by name, for gates


@dataclass(frozen=True, slots=True)
class Overlaid:
    """Two datasets laid over each other, and what changed in each part, not yet summed."""

    old: Dataset
    new: Dataset
    values: Values
    joints: Mapping[int, Joint]  # by family
    requests: Requests | None
    changes: Mapping[str, Changes]  # by part
    own_values: Mapping[str, Pair]  # own columns of either dataset, by path
    own: Mapping[str, Sequence[OwnAnswers]]  # by part, of each family in it


@dataclass(frozen=True, slots=True)
class Comparison(GateResult):
    """Two datasets compared; ``parts`` are ipv4, ipv6 and, if requests are counted, all."""

    old: ComparedDataset
    new: ComparedDataset
    requests: Requests | None
    parts: Mapping[str, Part]
    gates: Sequence[Verdict]

    @property
    def column_changes(self) -> ColumnChanges | None:
        """The changes of own columns; None if neither dataset has any."""
        return None


@dataclass(frozen=True, slots=True)
class OwnComparison(Comparison):
    """Two datasets compared; one or both have own columns."""

    columns: ColumnChanges

    @property
    def column_changes(self) -> ColumnChanges:
        """The changes of own columns."""
        return self.columns


def diff(
    old: str | PathLike[str],
    new: str | PathLike[str] | None = None,
    *,
    fail_if: Iterable[str] = (),
    traffic: str | PathLike[str] | None = None,
    traffic_count: str | None = None,
    ip_column: str = "ip",
    input_format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    top: int = 10,
) -> Comparison:
    """Compare two datasets or stores over all addresses that a lookup can answer.

    The result has ``old`` and ``new`` (path, name, generation), ``requests``, ``parts``
    (by "ipv4", "ipv6" and, with ``traffic``, "all") and ``gates``. If a dataset has own columns,
    it also has ``columns`` (added, removed and retyped ones), and these are compared in
    special-purpose space too. Counts are in the
    ``unit`` of their part: IPv4 addresses, IPv6 networks of /64, or requests. Shares are
    0 to 1, distances kilometres.

    ``fail_if`` are gates such as "country_moved > 2%"; ``failed`` of the result lists those
    that fail. ``top`` is the number of networks in ``movers``.

    ``traffic`` is a table file of requested addresses or a folder of them, in any format that
    ``geolookup enrich`` reads: each address counts once per request. ``ip_column``
    is its column of addresses, ``traffic_count`` its column of requests (None: one per row),
    ``input_format`` a format that ``--input-format`` accepts (None: by suffix). For CSV
    ``delimiter`` is the separator (None: the format's), and ``header`` states whether the first row
    names the columns.

    Raises DatasetError for a missing or damaged dataset, DiffError for a malformed gate,
    TableFileError for an unusable traffic file, ValueError for a ``top`` below 0 or an
    unknown format.
    """
    if top < 0:
        raise ValueError(f"top is {top}; it is a number of networks, 0 or more")
    before, after = open_dataset(old), open_dataset(new)
    gates = gates_between(before, after, fail_if)
    requests = None
    if traffic is not None:
        requests = Traffic(traffic, ip_column, traffic_count, input_format, delimiter, header)
    return measure(lay_over(before, after, requests), gates, most_movers=top)


def gates_between(old: Dataset, new: Dataset, texts: Iterable[str]) -> list[Gate]:
    """Read gates on two datasets; they may name the own columns of either.

    Raises DiffError for a malformed gate.
    """
    return diff_metrics(either_has(old.schema, new.schema)).gates(texts)


def compare(
    old: str | PathLike[str], new: str | PathLike[str], traffic: Traffic | None = None
) -> Comparison:
    """Compare two datasets or stores, without gates; see ``diff``."""
    return measure(read(old, new, traffic))


def read(
    old: str | PathLike[str], new: str | PathLike[str] | None, traffic: Traffic | None = None
) -> Overlaid:
    """Read two datasets or stores and lay them over each other; raises the errors of ``diff``."""
    return lay_over(open_dataset(old), open_dataset(new), traffic)


def lay_over(old: Dataset, new: Dataset, traffic: Traffic | None = None) -> Overlaid:
    """Lay two datasets over each other; raises the errors of ``diff``."""
    values, overlaid = read_values(old, new), joints(old, new)
    requests, answers, own = _answers_by_part(overlaid, traffic)
    changed = {name: changes_of(values, part) for name, part in answers.items()}
    own_values = read_own_values(old, new)
    return Overlaid(old, new, values, overlaid, requests, changed, own_values, own)


def measure(overlaid: Overlaid, gates: Iterable[Gate] = (), *, most_movers: int = 10) -> Comparison:
    """Sum the changes of each part, and evaluate gates.

    Counts are float64, and IPv6 networks smaller than /64 are fractions.
    """
    about = [side.manifest.metadata() for side in (overlaid.old, overlaid.new)]
    parts = {
        name: _part(
            _UNITS[name] if overlaid.requests is None else "requests",
            overlaid.values,
            part,
            about,
            most_movers,
            own_changes(overlaid.own_values, overlaid.own[name]) if overlaid.own_values else {},
        )
        for name, part in overlaid.changes.items()
    }
    sides = [describe(side) for side in (overlaid.old, overlaid.new)]
    metrics = {name: part.metrics for name, part in parts.items()}
    verdicts = [judge(gate, metrics) for gate in gates]
    columns = column_changes(overlaid.old.schema, overlaid.new.schema)
    members = (sides[0], sides[1], overlaid.requests, parts, verdicts)
    return Comparison(*members) if columns is None else OwnComparison(*members, columns)


def open_dataset(path: str | PathLike[str] | None) -> Dataset:
    """Open the dataset that lookups would use: a folder, or the current one of a store."""
    with geolookup.open(path) as engine:
        return Dataset(engine.path)


def _answers_by_part(
    overlaid: Mapping[int, Joint], traffic: Traffic | None
) -> tuple[Requests | None, dict[str, Answers], dict[str, list[OwnAnswers]]]:
    """Return the answers by part, weighted by addresses or by requests."""
    own = {f: joint.own for f, joint in overlaid.items() if joint.own is not None}
    if traffic is None:
        answers = {f"ipv{family}": joint.answers for family, joint in overlaid.items()}
        return None, answers, {f"ipv{f}": [part] for f, part in own.items()}
    starts = {family: joint.starts for family, joint in overlaid.items()}
    requests, weights = count_requests(traffic, starts)
    answers = {f"ipv{f}": joint.weigh(weights[f]) for f, joint in overlaid.items()}
    weighed = {f"ipv{f}": [part.weigh(weights[f])] for f, part in own.items()}
    every = [part for parts in weighed.values() for part in parts]
    return requests, {**answers, ALL: together(list(answers.values()))}, {**weighed, ALL: every}


def describe(dataset: Dataset) -> ComparedDataset:
    """Return path, name and generation of a dataset."""
    about = dataset.manifest.metadata()
    return ComparedDataset(dataset.path, about.name, about.generation)


def _part(
    unit: str,
    values: Values,
    changes: Changes,
    about: Sequence[Metadata],
    most_movers: int,
    own: Mapping[str, FieldChange],
) -> Part:
    answers, locations, moves = changes.answers, changes.locations, changes.moves
    part_coverage = coverage(answers.in_old, answers.in_new, answers.weight)
    moved = moves.shares() | {"asn": changes.asn.share(changes.networks.weight)}
    kilometres = quantiles(moves.distances, locations.weight)
    fields_changed = {
        **location_changes(values, locations),
        **network_changes(values, changes.networks),
        **own,
    }
    return Part(
        unit=unit,
        coverage=part_coverage,
        moved=moved,
        kilometres=kilometres,
        fields=fields_changed,
        old_sources=_by_source(values, locations, changes.old_source, about[0]),
        new_sources=_by_source(values, locations, changes.new_source, about[1]),
        movers=top_movers(values, changes, most_movers),
        metrics=change_metrics(moved, kilometres, part_coverage, fields_changed),
    )


def _by_source(
    values: Values, pairs: Pairs, sources: NDArray[Any], metadata: Metadata
) -> list[SourceChange]:
    """Measure the pairs of each source separately, without pairs that no source decided."""
    order = np.argsort(sources, kind="stable")
    # Sorted sources 0 0 1 1 3: bounds 2 4 4 5, so source 1 has two pairs, 2 none, 3 one.
    bounds = np.searchsorted(sources[order], np.arange(1, len(metadata.sources) + 2))
    return [
        source_change(source.name, values, pairs.take(order[begin:end]))
        for source, begin, end in zip(metadata.sources, bounds[:-1], bounds[1:], strict=True)
        if begin < end
    ]
