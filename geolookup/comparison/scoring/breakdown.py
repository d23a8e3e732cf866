"""A score broken down: by groups of the truth and sources, by countries, and the worst networks.

A network is an interval of the dataset: consecutive addresses with one answer. So a list of
addresses as truth is not shown; with such a list, or with requests, the networks are widened
too, because an interval of a dataset may be one address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import F64, Share, share
from geolookup.comparison.scoring.agreement import FIELDS, LEVELS, NOT_COUNTED, WRONG, Judgements
from geolookup.comparison.scoring.joint import DatasetAnswers, Joint
from geolookup.comparison.scoring.places import NO_PREFIX, Places, Truth
from geolookup.contract.address import BITS, MAX
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.metadata import Metadata

#: The longest prefixes that are shown of lists of addresses.
WIDENED = {4: 24, 6: 48}


@dataclass(frozen=True, slots=True)
class Grouping:
    """The group of each joint interval, and the names of the groups; None is unknown."""

    group: NDArray[Any]
    names: Sequence[str | None]


def groupings(truth: Truth, joint: Joint) -> dict[str, Grouping]:
    """Return the groups of the truth by their kind: family, country, prefix length."""
    return {
        "family": Grouping((joint.family == 6).astype(np.int64), ["ipv4", "ipv6"]),
        "country": _countries(truth, joint),
        "prefix_length": _lengths(truth, joint),
    }


def sources(joint: Joint, at: int, metadata: Metadata) -> Grouping:
    """Return the groups of the sources that decided the location in a dataset."""
    names = [None, *(source.name for source in metadata.sources)]
    return Grouping(joint.datasets[at].source.astype(np.int64), names)


def _countries(truth: Truth, joint: Joint) -> Grouping:
    """Group by country; codes of the truth's own table, where equal ones may repeat."""
    column = truth.places.names["country_code"]
    codes = column.codes[truth.rows.location[joint.row]]
    texts = [None, *column.values.to_pylist()]
    names = list(dict.fromkeys(texts))
    numbers = {name: number for number, name in enumerate(names)}
    common = np.array([numbers[text] for text in texts], np.int64)
    return Grouping(common[codes + 1], names)


def _lengths(truth: Truth, joint: Joint) -> Grouping:
    """Group by the length of the truth's prefix, per family; other ranges are one group."""
    rows = truth.rows
    # Family in the upper bits, length + 1 in the lower 16; 0 for other ranges than prefixes.
    keys = rows.family[joint.row].astype(np.int64) << 16 | (rows.length[joint.row] - NO_PREFIX)
    lengths, group = np.unique(keys, return_inverse=True)
    return Grouping(group, [_length_name(int(key)) for key in lengths])


def _length_name(key: int) -> str:
    family, length = key >> 16, (key & 0xFFFF) + NO_PREFIX
    return f"ipv{family} " + ("range" if length == NO_PREFIX else f"/{length}")


@dataclass(frozen=True, slots=True)
class WorstNetwork:
    """A network of a dataset with wrong answers."""

    network: str  # a prefix, or "first-last"
    wrong: Share  # of the network's weight that can be compared at the level
    truth: str | None  # of several the one with the most weight
    dataset: str | None
    source: str | None  # that decided the location


@dataclass(frozen=True, slots=True)
class CountryPair:
    """A country of the truth, and the wrong one that the dataset states instead."""

    truth: str
    dataset: str
    wrong: Share  # of the weight whose truth states a country


@dataclass(frozen=True, slots=True)
class Sides:
    """n joint intervals of a part: the answers that are judged, and the texts of both sides."""

    answers: DatasetAnswers
    truth_place: NDArray[Any]
    truth: Places
    sources: list[str | None]  # by number
    widened: bool


def worst_networks(
    sides: Sides, judged: Judgements, weight: F64, most: int
) -> dict[str, list[WorstNetwork]]:
    """Return by level the networks with the most wrong weight, the greatest first."""
    return {level: list(_of_level(sides, judged, weight, level, most)) for level in LEVELS}


def _of_level(
    sides: Sides, judged: Judgements, weight: F64, level: str, most: int
) -> Iterator[WorstNetwork]:
    verdict, interval = judged.verdicts[level], sides.answers.interval
    counted = np.flatnonzero((verdict != NOT_COUNTED) & (weight > 0))
    networks, group = np.unique(interval[counted], return_inverse=True)
    wrong = verdict[counted] == WRONG
    sums = np.bincount(group, weight[counted] * wrong, minlength=len(networks))
    of = np.bincount(group, weight[counted], minlength=len(networks))
    # A stable sort: networks of equal weight stay in address order.
    wrong_rows = counted[wrong][np.argsort(group[wrong], kind="stable")]
    # The wrong rows of network n are wrong_rows[ends[n - 1] : ends[n]].
    ends = np.cumsum(np.bincount(group[wrong], minlength=len(networks)))
    for at in np.argsort(-sums, kind="stable")[:most]:
        if not sums[at]:
            break
        rows = wrong_rows[ends[at - 1] if at else 0 : ends[at]]
        row = _heaviest(sides.truth_place[rows], weight[rows], rows)
        yield WorstNetwork(
            network=_name(sides.answers.starts, int(networks[at]), sides.widened),
            wrong=share(sums[at], of[at]),
            truth=_text(sides.truth, level, int(sides.truth_place[row])),
            dataset=_text(sides.answers.places, level, int(sides.answers.location[row])),
            source=sides.sources[int(sides.answers.source[row])],
        )


def country_pairs(sides: Sides, judged: Judgements, weight: F64, most: int) -> list[CountryPair]:
    """Return the pairs of countries with the most wrong weight, the greatest first."""
    verdict = judged.verdicts["country"]
    wrong = np.flatnonzero((verdict == WRONG) & (weight > 0))
    truth, dataset = sides.truth.names["country_code"], sides.answers.places.names["country_code"]
    keys = truth.codes[sides.truth_place[wrong]].astype(np.int64) * len(dataset.values)
    keys += dataset.codes[sides.answers.location[wrong]]
    pairs, group = np.unique(keys, return_inverse=True)
    sums: Counter[tuple[str, str]] = Counter()
    # Equal codes may repeat in the truth's table.
    for pair, total in zip(pairs, np.bincount(group, weight[wrong]), strict=True):
        one, other = divmod(int(pair), len(dataset.values))
        sums[str(truth.values[one]), str(dataset.values[other])] += total
    of = weight[verdict != NOT_COUNTED].sum()
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    return [CountryPair(*codes, share(total, of)) for codes, total in ranked[:most]]


def _heaviest(places: NDArray[Any], weight: F64, rows: NDArray[Any]) -> int:
    """Return a row of the place with the most weight."""
    _, first, group = np.unique(places, return_index=True, return_inverse=True)
    return int(rows[first[np.argmax(np.bincount(group, weight, minlength=len(first)))]])


def _text(places: Places, level: str, location: int) -> str | None:
    texts = (places.names[name].text(location) for name in FIELDS[level])
    return next((text for text in texts if text is not None), None)


def _name(starts: Mapping[int, Addresses], interval: int, widened: bool) -> str:
    """Return the prefix or the range of an interval, by its number over both families."""
    family = 4 if interval < len(starts[4]) else 6
    of_family, at = starts[family], interval - (0 if family == 4 else len(starts[4]))
    first = of_family.item(at)
    last = of_family.item(at + 1) - 1 if at + 1 < len(of_family) else MAX[family]
    if widened:
        mask = (1 << BITS[family] - WIDENED[family]) - 1
        # To the whole /24 or /48 of both ends.
        first, last = first & ~mask, last | mask
    return _network(family, first, last)


def _network(family: int, first: int, last: int) -> str:
    size = last - first
    # A prefix has a size, less 1, of 2^n - 1, and begins at a multiple of 2^n.
    if size & (size + 1) or first & size:
        address = IPv4Address if family == 4 else IPv6Address
        return f"{address(first)}-{address(last)}"
    network = IPv4Network if family == 4 else IPv6Network
    return str(network((first, BITS[family] - size.bit_length())))
