"""Several datasets together, over the addresses of the truth: pairs, and the majority.

As in CAIDA's Geocompare (Huffaker, Fomenkov and Claffy, 2011): agreement is measured between
datasets, too, and each is compared with the majority of the datasets that have an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.measures import F64, Move, Share, share
from geolookup.comparison.scoring.agreement import (
    AGREES,
    FAR_KM,
    LEVELS,
    NEAR_KM,
    NOT_COUNTED,
    NULL,
    VERDICTS,
    WRONG,
    Judgements,
    apart,
    compare,
)
from geolookup.comparison.scoring.joint import Joint
from geolookup.comparison.scoring.places import SideAnswers

#: The datasets that have to say the same, at least.
_QUORUM = 2


@dataclass(frozen=True, slots=True)
class PairPart:
    """How far two datasets agree where both state something."""

    country: Share
    region: Share
    city: Share
    within_50: Share
    within_100: Share


@dataclass(frozen=True, slots=True)
class Pair:
    """Two datasets by number, from 1, and their agreement by part."""

    one: int
    other: int
    parts: Mapping[str, PairPart]


@dataclass(frozen=True, slots=True)
class Vote:
    """The majority's answers at one level, and where each dataset differs from them.

    ``agree``, ``wrong`` and ``none`` (there is no majority) are shares of the weight that some
    dataset can be compared with, or knows nothing of.
    """

    agree: Share
    wrong: Share
    none: Share
    # By dataset: of the weight with a majority where the dataset states something.
    differs: Sequence[Share]


@dataclass(frozen=True, slots=True)
class Majority:
    """The vote at each level."""

    country: Vote
    region: Vote
    city: Vote


def pairs(joint: Joint) -> list[Pair]:
    """Measure each pair of datasets over the joint intervals."""
    sides = [answers.side for answers in joint.datasets]
    return [
        Pair(one + 1, other + 1, _pair_parts(joint, sides[one], sides[other]))
        for one, other in combinations(range(len(sides)), 2)
    ]


def _pair_parts(joint: Joint, one: SideAnswers, other: SideAnswers) -> dict[str, PairPart]:
    moves = {level: compare(level, one, other) for level in LEVELS}
    distance = apart(one, other)
    located = ~np.isnan(distance)
    near = {f"within_{km}": Move(located, ~(distance <= km)) for km in (NEAR_KM, FAR_KM)}
    return {
        name: PairPart(**{key: _same(both, part.weight) for key, both in (moves | near).items()})
        for name, part in joint.parts.items()
    }


def _same(both: Move, weight: F64) -> Share:
    return share(weight[both.compared & ~both.moved].sum(), weight[both.compared].sum())


def majorities(joint: Joint, judged: Sequence[Judgements]) -> dict[str, Majority]:
    """Return the majority's score by part."""
    votes = {level: _Ballot(level, joint, judged) for level in LEVELS}
    return {
        name: Majority(*(votes[level].vote(part.weight) for level in LEVELS))
        for name, part in joint.parts.items()
    }


class _Ballot:
    """The votes at one level: each answer has the vote of each dataset that agrees with it.

    The majority is more than half of the datasets that state something, and at least two.
    """

    def __init__(self, level: str, joint: Joint, judged: Sequence[Judgements]) -> None:
        sides = [answers.side for answers in joint.datasets]
        self._same = {
            (one, other): compare(level, sides[one], sides[other])
            for one, other in combinations(range(len(sides)), 2)
        }
        # Against itself a dataset is compared wherever it states something.
        self._says = [compare(level, side, side).compared for side in sides]
        verdicts = np.array([dataset.verdicts[level] for dataset in judged])
        self._leader, self._is_majority = self._count()
        rows = np.arange(len(self._leader))
        # Verdicts have the shape (datasets, intervals); these are of the leader at each interval.
        leading = verdicts[self._leader, rows]
        counted = (verdicts != NOT_COUNTED).any(axis=0)
        # Without a majority NULL, but only where some dataset is judged.
        self._verdict = np.where(self._is_majority, leading, np.where(counted, NULL, NOT_COUNTED))

    def _count(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the first dataset with the most votes, and whether these are a majority."""
        # Answers AT AT DE have 2, 2 and 1 votes: each counts for itself and for its equals.
        votes = np.array(self._says).astype(np.int64)
        for (one, other), both in self._same.items():
            agree = both.compared & ~both.moved
            votes[one] += agree
            votes[other] += agree
        most = votes.max(axis=0)
        enough = (most >= _QUORUM) & (2 * most > np.sum(self._says, axis=0))
        return votes.argmax(axis=0), enough

    def vote(self, weight: F64) -> Vote:
        """Return the result by weight."""
        sums = np.bincount(self._verdict, weight, minlength=VERDICTS)
        total = sums[[AGREES, WRONG, NULL]].sum()
        agree, wrong, none = (share(sums[verdict], total) for verdict in (AGREES, WRONG, NULL))
        return Vote(agree, wrong, none, list(self._differing(weight)))

    def _differing(self, weight: F64) -> Iterator[Share]:
        for at in range(len(self._says)):
            differs, counted = np.zeros(len(weight), bool), np.zeros(len(weight), bool)
            for leader in range(len(self._says)):
                rows = self._is_majority & (self._leader == leader)
                # A leader does not differ from itself.
                if leader == at:
                    counted |= rows
                    continue
                both = self._same[min(at, leader), max(at, leader)]
                counted |= rows & both.compared
                differs |= rows & both.moved
            yield share(weight[differs].sum(), weight[counted].sum())
