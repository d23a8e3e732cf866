"""Changes in each joint interval: distinct pairs of rows, and the sums that reports show.

The sums are by kind of change, between countries, and by network.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.joint_intervals import Answers
from geolookup.comparison.measures import (
    LocationMoves,
    Move,
    Pairs,
    Share,
    location_moves,
    move,
    share,
)
from geolookup.comparison.values import CODE, LOCATION_FIELDS, Pair, Values
from geolookup.dataset.intervals import I64, Bools
from geolookup.dataset.runs import Codes, distinct

#: The kinds of change of an address, the greatest first.
LOST, GAINED, COUNTRY, REGION, CITY, LOCATION, NETWORK, UNCHANGED = range(8)
KINDS = (
    "lost",
    "gained",
    "country moved",
    "region moved",
    "city moved",
    "other location value",
    "network value",
    "unchanged",
)


@dataclass(frozen=True, slots=True)
class Changes:
    """The answers of a part, and their distinct pairs of rows, each compared once.

    ``locations`` are distinct together with their sources. ``location_of`` and ``network_of``,
    shape (n,), are the numbers of the answers' pairs.
    """

    answers: Answers
    locations: Pairs
    old_source: NDArray[Any]  # by location pair
    new_source: NDArray[Any]
    location_of: Codes
    networks: Pairs
    network_of: Codes
    moves: LocationMoves
    asn: Move  # of the network pairs


def changes_of(values: Values, answers: Answers) -> Changes:
    """Find the distinct pairs of the answers and compare them."""
    pairs = answers.locations, answers.sources
    columns = [rows for pair in pairs for rows in (pair.old, pair.new)]
    of_locations = distinct(columns, answers.weight)
    of_networks = distinct([answers.networks.old, answers.networks.new], answers.weight)
    locations, networks = Pairs.of(of_locations), Pairs.of(of_networks)
    return Changes(
        answers=answers,
        locations=locations,
        old_source=of_locations.columns[2],
        new_source=of_locations.columns[3],
        location_of=of_locations.of_row,
        networks=networks,
        network_of=of_networks.of_row,
        moves=location_moves(values, locations),
        asn=move(values.network["network.asn"], networks),
    )


def kinds(values: Values, changes: Changes) -> NDArray[np.uint8]:
    """Return the kind of change of each answer, a position of ``KINDS``; shape (n,).

    The first kind that applies decides. ``lost`` and ``gained`` are as in ``Coverage``, the moves
    as in ``location_moves``; other values differ, or are null in one dataset.
    """
    answers = changes.answers
    of_location = _location_kinds(values, changes)[changes.location_of]
    network = _differ(values.network.values(), changes.networks)[changes.network_of]
    conditions = [~answers.in_new, ~answers.in_old, of_location != UNCHANGED, network]
    kind = np.select(conditions, [LOST, GAINED, of_location, NETWORK], UNCHANGED)
    return kind.astype(np.uint8)


def _location_kinds(values: Values, changes: Changes) -> I64:
    pairs, levels = changes.locations, changes.moves.by_level
    moved = [levels[level].moved for level in ("country", "region", "city")]
    conditions = [*moved, _differ(map(values.by_row, LOCATION_FIELDS), pairs)]
    return np.select(conditions, [COUNTRY, REGION, CITY, LOCATION], UNCHANGED)


def _differ(fields: Iterable[Pair], pairs: Pairs) -> Bools:
    """Mark the pairs of rows that differ in any field."""
    differs: Bools = np.zeros(len(pairs.weight), bool)
    for field in fields:
        differs |= field.old[pairs.old] != field.new[pairs.new]
    return differs


def country_flows(values: Values, changes: Changes) -> list[tuple[str, str, float]]:
    """Return the alpha-2 codes in OLD and in NEW, and the weight moved, the greatest first."""
    codes, moved = values.location[CODE], changes.moves.by_level["country"].moved
    pairs = changes.locations.take(moved)
    sums = distinct([codes.old[pairs.old], codes.new[pairs.new]], pairs.weight)
    texts = [] if codes.values is None else codes.values.to_pylist()
    old, new = ([texts[code] for code in column.tolist()] for column in sums.columns)
    flows = zip(old, new, sums.weight.tolist(), strict=True)
    return sorted(flows, key=lambda flow: (-flow[2], flow))


@dataclass(frozen=True, slots=True)
class Mover:
    """A network of NEW: autonomous system and holder, either None if unknown."""

    asn: int | None
    asn_organization: str | None
    moved: Share  # of the network's addresses whose location can be compared
    of_all: float  # share of all that moved

    @property
    def label(self) -> str:
        """The name of the network, such as "AS64500 Example"; "no AS" without a number."""
        system = "no AS" if self.asn is None else f"AS{self.asn}"
        return f"{system} {self.asn_organization or ''}".rstrip()


def top_movers(values: Values, changes: Changes, most: int) -> list[Mover]:
    """Return the networks with the most moved weight, the greatest first, at most ``most``."""
    answers, location = changes.answers, changes.moves.by_level["location"]
    asn, holder = (values.network[f"network.{name}"] for name in ("asn", "asn_organization"))
    systems = distinct([column.new[answers.networks.new] for column in (asn, holder)])
    moved, compared = (
        np.bincount(systems.of_row, answers.weight * mask[changes.location_of])
        for mask in (location.moved, location.compared)
    )
    # A stable sort: networks of equal weight keep their order.
    order = np.argsort(-moved, kind="stable")[:most]
    total = float(moved.sum())
    return [
        Mover(
            asn=_name(asn, systems.columns[0][at]),
            asn_organization=_name(holder, systems.columns[1][at]),
            moved=share(moved[at], compared[at]),
            of_all=float(moved[at]) / total,
        )
        for at in order
        if moved[at]
    ]


def _name(pair: Pair, code: np.int32) -> Any:
    return None if code < 0 or pair.values is None else pair.values[int(code)].as_py()
