"""Truth and datasets laid over each other: all their answers, by joint interval.

An interval is kept if a row of the truth decides it and a lookup can answer it. Both families are
in one table, IPv4 first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import F64
from geolookup.comparison.overlay import FAMILIES, Side, blocked_space
from geolookup.comparison.scoring.places import (
    Places,
    SideAnswers,
    Truth,
    answers_of_sides,
    of_dataset,
)
from geolookup.comparison.traffic import Requests, Traffic, count_requests
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import UNIT_ADDRESSES, UNITS, Addresses, overlay, sizes

Numbers = NDArray[Any]
#: The parts of a score: addresses by family, rows of the truth, and requests.
IPV4, IPV6, NETWORKS, REQUESTS = "ipv4", "ipv6", "networks", "requests"
PARTS = (IPV4, IPV6, NETWORKS, REQUESTS)


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each joint interval in one part, and its unit."""

    unit: str
    weight: F64


@dataclass(frozen=True, slots=True)
class DatasetAnswers:
    """The answers of one dataset for n joint intervals."""

    side: SideAnswers
    places: Places  # of its location table
    location: Numbers  # row of that table
    source: Numbers  # number of the source that decided the location; 0: none
    interval: Numbers  # its interval; IPv6 follows IPv4
    starts: Mapping[int, Addresses]  # of its intervals, by family


@dataclass(frozen=True, slots=True)
class Joint:
    """n joint intervals: the truth of each, and the answers of each dataset."""

    family: Numbers
    row: Numbers  # of the truth
    truth: SideAnswers
    datasets: Sequence[DatasetAnswers]
    parts: Mapping[str, Weights]
    requests: Requests | None


@dataclass(frozen=True, slots=True)
class _OfFamily:
    """The joint intervals of one family: all starts, and the columns of those that count."""

    starts: Addresses
    intervals: Numbers
    row: Numbers
    size: F64
    sides: Sequence[Side]
    at: Sequence[tuple[Numbers, Numbers]]  # by dataset: interval, and interval of its provenance


def overlaid(truth: Truth, datasets: Sequence[Dataset], traffic: Traffic | None) -> Joint:
    """Overlay truth and datasets; raises DatasetError and TableFileError as those read do."""
    families = {family: _of_family(truth, datasets, family) for family in FAMILIES}
    answers = [_answers(families, at) for at in range(len(datasets))]
    row = np.concatenate([part.row for part in families.values()])
    location = truth.rows.location[row]
    places = [of_dataset(dataset) for dataset in datasets]
    sides = answers_of_sides(
        [truth.places, *places], [location, *(columns["location"] for columns in answers)]
    )
    family = np.repeat(np.array(FAMILIES, np.uint8), [len(part.row) for part in families.values()])
    requests, weights = _requests(families, traffic)
    return Joint(
        family=family,
        row=row,
        truth=sides[0],
        datasets=[
            DatasetAnswers(side=of, places=its, **columns)
            for of, its, columns in zip(sides[1:], places, answers, strict=True)
        ],
        parts=_parts(truth, families, family, row, weights),
        requests=requests,
    )


def _of_family(truth: Truth, datasets: Sequence[Dataset], family: int) -> _OfFamily:
    sides = [Side(dataset, family) for dataset in datasets]
    blocked, is_blocked = blocked_space(family)
    decided = truth.partitions[family]
    partitions = [blocked, decided.starts]
    for side in sides:
        partitions += [side.decided, side.starts]
    starts, at = overlay(partitions)
    row = decided.row[at[1]]
    intervals = np.flatnonzero((row > 0) & (truth.rows.location[row] > 0) & ~is_blocked[at[0]])
    # Partitions: special space, truth, then provenance and intervals of each dataset.
    pairs = [
        (at[2 * number + 3][intervals], at[2 * number + 2][intervals])
        for number in range(len(sides))
    ]
    return _OfFamily(starts, intervals, row[intervals], sizes(starts)[intervals], sides, pairs)


def _answers(families: Mapping[int, _OfFamily], at: int) -> dict[str, Any]:
    """Return the columns of one dataset over both families."""
    location, source, interval, before = [], [], [], 0
    for part in families.values():
        side, (of_starts, of_decided) = part.sides[at], part.at[at]
        location.append(side.locations[of_starts])
        source.append(side.sources[of_decided])
        interval.append(of_starts + before)
        before += len(side.starts)
    return {
        "location": np.concatenate(location),
        "source": np.concatenate(source),
        "interval": np.concatenate(interval),
        "starts": {family: part.sides[at].starts for family, part in families.items()},
    }


def _requests(
    families: Mapping[int, _OfFamily], traffic: Traffic | None
) -> tuple[Requests | None, F64 | None]:
    """Return the requests of a traffic file, and their number in each joint interval."""
    if traffic is None:
        return None, None
    starts = {family: part.starts for family, part in families.items()}
    requests, weights = count_requests(traffic, starts)
    return requests, np.concatenate([weights[f][part.intervals] for f, part in families.items()])


def _parts(
    truth: Truth,
    families: Mapping[int, _OfFamily],
    family: Numbers,
    row: Numbers,
    weights: F64 | None,
) -> dict[str, Weights]:
    size = np.concatenate([part.size for part in families.values()])
    # A row counts once: each of its intervals has its share of the row's addresses.
    sums = np.bincount(row, size, minlength=len(truth.rows))
    # Single IPv6 addresses are counted as such: each is a tiny fraction of a /64.
    ipv6, unit = (size, UNITS[6]) if truth.of_ranges else (size * UNIT_ADDRESSES[6], UNITS[4])
    parts = {
        IPV4: Weights(UNITS[4], np.where(family == 4, size, 0.0)),
        IPV6: Weights(unit, np.where(family == 6, ipv6, 0.0)),
        # A row of 256 addresses, 64 of them here: a weight of 0.25.
        NETWORKS: Weights("rows of the truth", size / sums[row]),
    }
    return parts if weights is None else parts | {REQUESTS: Weights("requests", weights)}
