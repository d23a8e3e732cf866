"""What changed in each joint interval: distinct pairs of rows, and the kind of the change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import Bools, LocationMoves, Move, Pairs, move
from geolookup.comparison.overlay import Answers
from geolookup.comparison.values import Pair, Values
from geolookup.comparison.weighted import distinct

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
    location_of: NDArray[np.int32]
    networks: Pairs
    network_of: NDArray[np.int32]
    moves: LocationMoves
    asn: Move  # of the network pairs


def changes(values: Values, answers: Answers) -> Changes:
    """Find the distinct pairs of the answers and compare them."""
    decided = distinct(
        [answers.old_location, answers.new_location, answers.old_source, answers.new_source],
        answers.weight,
    )
    old_location, new_location, old_source, new_source = decided.columns
    locations = Pairs(old_location, new_location, decided.weight)
    found = distinct([answers.old_network, answers.new_network], answers.weight)
    networks = Pairs(found.columns[0], found.columns[1], found.weight)
    return Changes(
        answers=answers,
        locations=locations,
        old_source=old_source,
        new_source=new_source,
        location_of=decided.of_row,
        networks=networks,
        network_of=found.of_row,
        moves=LocationMoves(values, locations),
        asn=move(values.network["network.asn"], networks),
    )


def kinds(values: Values, found: Changes) -> NDArray[np.uint8]:
    """Return the kind of change of each answer, a position of ``KINDS``; shape (n,).

    The first kind that applies. ``lost`` and ``gained`` are those of the coverage, the moves
    those of ``moved``; other values are any that differ, or are null in one dataset.
    """
    answers = found.answers
    of_location = _location_kinds(values, found)[found.location_of]
    network = _differ(values.network.values(), found.networks)[found.network_of]
    conditions = [~answers.in_new, ~answers.in_old, of_location != UNCHANGED, network]
    kind = np.select(conditions, [LOST, GAINED, of_location, NETWORK], UNCHANGED)
    return kind.astype(np.uint8)


def _location_kinds(values: Values, found: Changes) -> NDArray[np.int64]:
    pairs, levels = found.locations, found.moves.by_level
    others = [_differ(values.location.values(), pairs)]
    others += [_differ(each.fields.values(), _linked(pairs, each.link)) for each in values.linked]
    moved = [levels[level].moved for level in ("country", "region", "city")]
    conditions = [*moved, np.logical_or.reduce(others)]
    return np.select(conditions, [COUNTRY, REGION, CITY, LOCATION], UNCHANGED)


def _linked(pairs: Pairs, link: Pair) -> Pairs:
    return Pairs(link.old[pairs.old], link.new[pairs.new], pairs.weight)


def _differ(fields: Iterable[Pair], pairs: Pairs) -> Bools:
    """Mark the pairs of rows that differ in any field."""
    found: Bools = np.zeros(len(pairs.weight), bool)
    for each in fields:
        found |= each.old[pairs.old] != each.new[pairs.new]
    return found
