"""The groups of a score: the truth's countries, families and prefix lengths, and the sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geolookup.comparison.scoring.joint import Joint
from geolookup.comparison.scoring.truth import NO_PREFIX, Truth
from geolookup.dataset.metadata import Metadata


@dataclass(frozen=True, slots=True)
class Grouping:
    """The group of each joint interval, and the names of the groups; None is unknown."""

    group: NDArray[Any]
    names: Sequence[str | None]


def groupings(truth: Truth, joint: Joint) -> dict[str, Grouping]:
    """Return the groups that the truth makes, by what they are made of."""
    return {
        "family": Grouping((joint.family == 6).astype(np.int64), ["ipv4", "ipv6"]),
        "country": _countries(truth, joint),
        "prefix_length": _lengths(truth, joint),
    }


def sources(joint: Joint, at: int, described: Metadata) -> Grouping:
    """Return the groups of the sources that decided the location in a dataset."""
    names = [None, *(each.name for each in described.sources)]
    return Grouping(joint.datasets[at].source.astype(np.int64), names)


def _countries(truth: Truth, joint: Joint) -> Grouping:
    """Group by country; codes of the truth's own table, where equal ones may repeat."""
    column = truth.places.names["country_code"]
    codes = column.codes[truth.rows.place[joint.row]]
    texts = [None, *column.values.to_pylist()]
    names = list(dict.fromkeys(texts))
    numbers = {name: number for number, name in enumerate(names)}
    common = np.array([numbers[text] for text in texts], np.int64)
    return Grouping(common[codes + 1], names)


def _lengths(truth: Truth, joint: Joint) -> Grouping:
    """Group by the length of the truth's prefix, per family; ranges that are no prefix apart."""
    rows = truth.rows
    keys = rows.family[joint.row].astype(np.int64) << 16 | (rows.length[joint.row] - NO_PREFIX)
    found, group = np.unique(keys, return_inverse=True)
    return Grouping(group, [_length_name(int(key)) for key in found])


def _length_name(key: int) -> str:
    family, length = key >> 16, (key & 0xFFFF) + NO_PREFIX
    return f"ipv{family} " + ("range" if length == NO_PREFIX else f"/{length}")
