"""The networks of a dataset whose answers are wrong for the most weight.

A network is an interval of the dataset: consecutive addresses with one answer. So a list of
addresses as truth is not shown; with such a list, or with requests, the networks are widened
too, because an interval of a dataset may be one address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import Share, share
from geolookup.comparison.scoring.agreement import FIELDS, LEVELS, NOT_COUNTED, WRONG, Judged
from geolookup.comparison.scoring.joint import DatasetAnswers
from geolookup.comparison.scoring.places import Places
from geolookup.comparison.weighted import F64
from geolookup.contract.address import BITS, MAX
from geolookup.dataset.intervals import Addresses

#: The longest prefixes that are shown of lists of addresses.
WIDENED = {4: 24, 6: 48}


@dataclass(frozen=True, slots=True)
class WorstNetwork:
    """A network of a dataset, and what is wrong there."""

    network: str  # a prefix, or "first-last"
    wrong: Share  # of the network's weight that can be compared at the level
    truth: str | None  # of several the one with the most weight
    dataset: str | None
    source: str | None  # that decided the location


@dataclass(frozen=True, slots=True)
class Sides:
    """n joint intervals of a part: what is judged, and the texts of both sides."""

    answers: DatasetAnswers
    truth_place: NDArray[Any]
    truth: Places
    sources: list[str | None]  # by number
    widened: bool


def worst_networks(
    sides: Sides, judged: Judged, weight: F64, most: int
) -> dict[str, list[WorstNetwork]]:
    """Return by level the networks with the most wrong weight, the greatest first."""
    return {level: list(_of_level(sides, judged, weight, level, most)) for level in LEVELS}


def _of_level(
    sides: Sides, judged: Judged, weight: F64, level: str, most: int
) -> Iterator[WorstNetwork]:
    verdict, interval = judged.verdicts[level], sides.answers.interval
    counted = np.flatnonzero((verdict != NOT_COUNTED) & (weight > 0))
    found, group = np.unique(interval[counted], return_inverse=True)
    wrong = verdict[counted] == WRONG
    sums = np.bincount(group, weight[counted] * wrong, minlength=len(found))
    of = np.bincount(group, weight[counted], minlength=len(found))
    # A stable sort: networks of equal weight stay in address order.
    for at in np.argsort(-sums, kind="stable")[:most]:
        if not sums[at]:
            break
        rows = counted[(group == at) & wrong]
        row = _heaviest(sides.truth_place[rows], weight[rows], rows)
        yield WorstNetwork(
            network=_name(sides.answers.starts, int(found[at]), sides.widened),
            wrong=share(sums[at], of[at]),
            truth=_text(sides.truth, level, int(sides.truth_place[row])),
            dataset=_text(sides.answers.places, level, int(sides.answers.place[row])),
            source=sides.sources[int(sides.answers.source[row])],
        )


def _heaviest(places: NDArray[Any], weight: F64, rows: NDArray[Any]) -> int:
    """Return a row of the place with the most weight."""
    found, first, group = np.unique(places, return_index=True, return_inverse=True)
    return int(rows[first[np.argmax(np.bincount(group, weight, minlength=len(found)))]])


def _text(places: Places, level: str, place: int) -> str | None:
    texts = (places.names[name].text(place) for name in FIELDS[level])
    return next((text for text in texts if text is not None), None)


def _name(starts: Mapping[int, Addresses], interval: int, widened: bool) -> str:
    """Return the prefix or the range of an interval, by its number over both families."""
    family = 4 if interval < len(starts[4]) else 6
    of_family, at = starts[family], interval - (0 if family == 4 else len(starts[4]))
    first = of_family.item(at)
    last = of_family.item(at + 1) - 1 if at + 1 < len(of_family) else MAX[family]
    if widened:
        mask = (1 << BITS[family] - WIDENED[family]) - 1
        first, last = first & ~mask, last | mask
    return _network(family, first, last)


def _network(family: int, first: int, last: int) -> str:
    size = last - first
    if size & (size + 1) or first & size:
        address = IPv4Address if family == 4 else IPv6Address
        return f"{address(first)}-{address(last)}"
    network = IPv4Network if family == 4 else IPv6Network
    return str(network((first, BITS[family] - size.bit_length())))
