"""Two datasets compared: by addresses or by requests, not by rows.

Strategy: ``joint_intervals`` joins the intervals of both, ``values`` reads both tables into one set
of codes, ``changes`` finds the distinct pairs of rows, ``measures`` sums what moved between them;
``traffic`` weights by requests. This module reads the datasets (``lay_over``) and combines the sums
(``measure``). ``gates`` evaluates, ``report`` prints. ``score`` compares datasets with ground
truth, which ``truth`` makes a dataset too.

Changes as rows: ``dataset_pair`` has the fields, values and conditions, ``changed_intervals`` the
ranges, ``change_table`` the columns and files.

A part is one address family, or both together if requests are counted: requests add up over
families, addresses do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    evaluate,
    gate_values,
)
from geolookup.comparison.joint_intervals import Joint, OwnAnswers, join_answers, joints
from geolookup.comparison.measures import (
    Coverage,
    FieldSums,
    Kilometres,
    Share,
    SourceChange,
    coverage,
    field_sums,
    own_sums,
)
from geolookup.comparison.traffic import Requests, Traffic, count_requests
from geolookup.comparison.values import (
    ColumnChanges,
    Pair,
    Values,
    column_changes,
    either_has,
    read_own_values,
    read_values,
)
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import UNITS
from geolookup.progress import stage

#: The units of counts by part: of addresses, of single addresses, of requests.
_UNITS = {f"ipv{family}": unit for family, unit in UNITS.items()}
_SINGLE = dict.fromkeys(_UNITS, UNITS[4])
_REQUESTS = dict.fromkeys((*_UNITS, ALL), "requests")


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
    fields: Mapping[str, FieldSums]  # by contract path
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
    units: Mapping[str, str]  # of the weights, by part
    changes: Mapping[str, Changes]  # by part
    own_values: Mapping[str, Pair]  # own columns of either dataset, by path
    own: Mapping[str, Sequence[OwnAnswers]]  # by part, of each family in it

    def field_sums(self, part: str) -> dict[str, FieldSums]:
        """Return the weights of each field and own column in a part, by path."""
        changes = self.changes[part]
        own = own_sums(self.own_values, self.own[part]) if self.own_values else {}
        return field_sums(self.values, changes.locations, changes.networks) | own


@dataclass(frozen=True, slots=True)
class Comparison(GateResult):
    """Two datasets compared; ``parts`` are ipv4, ipv6 and, if requests are counted, all."""

    old: ComparedDataset
    new: ComparedDataset
    requests: Requests | None
    parts: Mapping[str, Part]
    gates: Sequence[Verdict]
    columns: ColumnChanges | None  # of own columns; None if neither dataset has any


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
    (by "ipv4", "ipv6" and, with ``traffic``, "all"), ``gates`` and ``columns`` (own columns that
    were added, removed or retyped). Own columns are compared in special-purpose space too. Counts
    are whole numbers in the ``unit`` of their part: IPv4 addresses, IPv6 networks of /64, or
    requests. A count above 0 is at least 1. Shares are 0 to 1, distances kilometres.

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


def open_dataset(path: str | PathLike[str] | None) -> Dataset:
    """Open the dataset that lookups would use: a folder, or the current one of a store."""
    with geolookup.open(path) as engine:
        return Dataset(engine.path)


def lay_over(old: Dataset, new: Dataset, traffic: Traffic | None = None) -> Overlaid:
    """Lay two datasets over each other; raises the errors of ``diff``."""
    return lay_over_all(old, [new], traffic)[0]


@stage("overlaying datasets", "counting changes")
def lay_over_all(
    old: Dataset,
    several: Sequence[Dataset],
    traffic: Traffic | None = None,
    *,
    single_addresses: bool = False,
) -> list[Overlaid]:
    """Lay each of several datasets over one; the traffic is read once.

    With ``single_addresses`` IPv6 is counted in addresses, otherwise in networks of /64.
    """
    joint = [joints(old, new, single_addresses=single_addresses) for new in several]
    requests, units = None, _SINGLE if single_addresses else _UNITS
    if traffic is not None:
        starts = [{family: one.starts for family, one in both.items()} for both in joint]
        requests, weights = count_requests(traffic, starts)
        joint = [
            {family: one.weigh(of[family]) for family, one in both.items()}
            for both, of in zip(joint, weights, strict=True)
        ]
        units = _REQUESTS
    return [
        _with_changes(old, new, both, units, requests)
        for new, both in zip(several, joint, strict=True)
    ]


def _with_changes(
    old: Dataset,
    new: Dataset,
    by_family: Mapping[int, Joint],
    units: Mapping[str, str],
    requests: Requests | None,
) -> Overlaid:
    values = read_values(old, new)
    answers = {f"ipv{family}": joint.answers for family, joint in by_family.items()}
    own = {f"ipv{family}": joint.own for family, joint in by_family.items()}
    if ALL in units:
        answers[ALL] = join_answers(list(answers.values()))
        own[ALL] = (*own["ipv4"], *own["ipv6"])
    changed = {name: changes_of(values, part) for name, part in answers.items()}
    own_values = read_own_values(old, new)
    return Overlaid(old, new, values, by_family, requests, units, changed, own_values, own)


@stage("counting changes")
def measure(overlaid: Overlaid, gates: Iterable[Gate] = (), *, most_movers: int = 10) -> Comparison:
    """Sum the changes of each part, and evaluate gates."""
    parts = {name: _part(overlaid, name, most_movers) for name in overlaid.changes}
    metrics = {name: part.metrics for name, part in parts.items()}
    return Comparison(
        old=describe(overlaid.old),
        new=describe(overlaid.new),
        requests=overlaid.requests,
        parts=parts,
        gates=[evaluate(gate, gate_values(gate, metrics)) for gate in gates],
        columns=column_changes(overlaid.old.schema, overlaid.new.schema),
    )


def describe(dataset: Dataset) -> ComparedDataset:
    """Return path, name and generation of a dataset."""
    about = dataset.manifest.metadata()
    return ComparedDataset(dataset.path, about.name, about.generation)


def _part(overlaid: Overlaid, name: str, most_movers: int) -> Part:
    changes = overlaid.changes[name]
    answers = changes.answers
    known = coverage(answers.in_old, answers.in_new, answers.weight)
    moved = changes.moves.shares() | {"asn": changes.asn.share(changes.networks.weight)}
    kilometres = changes.moves.kilometres()
    fields = overlaid.field_sums(name)
    return Part(
        unit=overlaid.units[name],
        coverage=known,
        moved=moved,
        kilometres=kilometres,
        fields={path: sums.whole() for path, sums in fields.items()},
        old_sources=[*_sources(changes, changes.old_source, overlaid.old)],
        new_sources=[*_sources(changes, changes.new_source, overlaid.new)],
        movers=top_movers(overlaid.values, changes, most_movers),
        metrics=change_metrics(moved, kilometres, known, fields),
    )


def _sources(changes: Changes, sources: NDArray[Any], dataset: Dataset) -> Iterator[SourceChange]:
    for name, rows in by_source(sources, dataset):
        pairs, moves = changes.locations.take(rows), changes.moves.take(rows)
        known = coverage(pairs.old > 0, pairs.new > 0, pairs.weight)
        yield SourceChange(name, known, moves.shares(), moves.kilometres())


def by_source(sources: NDArray[Any], dataset: Dataset) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield name and pairs of each source of a dataset that decided any, by number."""
    for number, source in enumerate(dataset.manifest.metadata().sources, 1):
        rows = np.flatnonzero(sources == number)
        if len(rows):
            yield source.name, rows
