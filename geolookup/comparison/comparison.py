"""The whole comparison of two datasets, family by family.

A part of it is one family, or both together where requests are what is
counted: requests add up over families, addresses do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

import geolookup
from geolookup.comparison.distinct import distinct
from geolookup.comparison.kilometres import Kilometres
from geolookup.comparison.measures import (
    Coverage,
    FieldChange,
    Pairs,
    Places,
    Share,
    SourceChange,
    coverage,
    location_changes,
    move,
    network_changes,
    source_change,
)
from geolookup.comparison.metrics import metrics
from geolookup.comparison.movers import Mover, top_movers
from geolookup.comparison.overlay import FAMILIES, Answers, Joints, together
from geolookup.comparison.traffic import Requests, Traffic, count_requests
from geolookup.comparison.values import Values, read_values
from geolookup.dataset.files import Dataset
from geolookup.dataset.metadata import Metadata

#: The part in which requests of both families are counted together.
ALL = "all"
_UNITS = {"ipv4": "addresses", "ipv6": "/64 networks"}


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the two datasets."""

    path: str
    name: str
    generation: str


@dataclass(frozen=True, slots=True)
class Part:
    """What became of one family, or of all requests. Counts are in ``unit``."""

    unit: str  # "addresses", "/64 networks" (for IPv6) or "requests"
    coverage: Coverage  # of addresses about which anything is known
    moved: Mapping[str, Share]  # location, country, region, city, asn
    kilometres: Kilometres
    fields: Mapping[str, FieldChange]  # by contract path
    old_sources: Sequence[SourceChange]  # by the source that decided the location in OLD
    new_sources: Sequence[SourceChange]
    movers: Sequence[Mover]
    metrics: Mapping[str, float]  # what gates judge, by name


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two datasets compared; ``parts`` are ipv4, ipv6 and, of requests, all."""

    old: Compared
    new: Compared
    requests: Requests | None
    parts: Mapping[str, Part]


def compare(
    old: str | PathLike[str],
    new: str | PathLike[str],
    traffic: Traffic | None = None,
    *,
    most_movers: int = 10,
) -> Comparison:
    """Compare two datasets over all that a lookup reaches.

    With ``traffic`` addresses count as often as they are requested. Raises
    DatasetError for a damaged dataset, TableFileError for an unusable traffic file.
    """
    before, after = _opened(old), _opened(new)
    values, joints = read_values(before, after), Joints(before, after)
    requests, answers = _weighed(joints, traffic)
    described = [each.manifest.metadata() for each in (before, after)]
    parts = {
        name: _part("requests" if traffic else _UNITS[name], values, each, described, most_movers)
        for name, each in answers.items()
    }
    return Comparison(_compared(before), _compared(after), requests, parts)


def _opened(path: str | PathLike[str]) -> Dataset:
    """Open what lookups would answer from: a folder, or the current one of a store."""
    with geolookup.open(path) as engine:
        return Dataset(engine.path)


def _weighed(joints: Joints, traffic: Traffic | None) -> tuple[Requests | None, dict[str, Answers]]:
    """Return the answers by part, weighed by addresses or by requests."""
    if traffic is None:
        return None, {f"ipv{family}": joints.families[family].answers for family in FAMILIES}
    requests, weights = count_requests(traffic, joints)
    answers = {f"ipv{f}": joints.families[f].weighed(weights[f]) for f in FAMILIES}
    return requests, {**answers, ALL: together(list(answers.values()))}


def _compared(dataset: Dataset) -> Compared:
    described = dataset.manifest.metadata()
    return Compared(dataset.path, described.name, described.generation)


def _part(
    unit: str, values: Values, answers: Answers, described: Sequence[Metadata], most_movers: int
) -> Part:
    decided = distinct(
        [answers.old_location, answers.new_location, answers.old_source, answers.new_source],
        answers.weight,
    )
    old_location, new_location, old_source, new_source = decided.columns
    locations = Pairs(old_location, new_location, decided.weight)
    networks = _pairs(answers.old_network, answers.new_network, answers.weight)
    known = coverage(answers.in_old, answers.in_new, answers.weight)
    places = Places(values, locations)
    moved = places.shares() | {
        "asn": move(values.network["network.asn"], networks).share(networks.weight)
    }
    kilometres = places.kilometres()
    changes = location_changes(values, locations) | network_changes(values, networks)
    location = places.moves["location"]
    movers = top_movers(
        values,
        answers.new_network,
        answers.weight,
        location.compared[decided.of_row],
        location.moved[decided.of_row],
        most_movers,
    )
    return Part(
        unit=unit,
        coverage=known,
        moved=moved,
        kilometres=kilometres,
        fields=changes,
        old_sources=_by_source(values, locations, old_source, described[0]),
        new_sources=_by_source(values, locations, new_source, described[1]),
        movers=movers,
        metrics=metrics(moved, kilometres, known, changes),
    )


def _pairs(old: NDArray[Any], new: NDArray[Any], weight: NDArray[np.float64]) -> Pairs:
    found = distinct([old, new], weight)
    old, new = found.columns
    return Pairs(old, new, found.weight)


def _by_source(
    values: Values, pairs: Pairs, sources: NDArray[Any], metadata: Metadata
) -> list[SourceChange]:
    """Measure the pairs of each source apart, those of none left out."""
    order = np.argsort(sources, kind="stable")
    bounds = np.searchsorted(sources[order], np.arange(1, len(metadata.sources) + 2))
    return [
        source_change(source.name, values, pairs.chosen(order[begin:end]))
        for source, begin, end in zip(metadata.sources, bounds[:-1], bounds[1:], strict=True)
        if begin < end
    ]
