"""New rows take the numbers of the rows of the base that they succeed.

A vendor that corrects the coordinates of a city makes a new row of it, and none of its intervals
moves. With the number of the former row they stay the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from geolookup.dataset.intervals import Addresses
from geolookup_builder.base import Base
from geolookup_builder.factorize import Codes, factorize


def with_successors(
    known: Codes, table: str, intervals: Sequence[tuple[Addresses, Codes]], base: Base
) -> Codes:
    """Return the number in the base of each row of a table, or of the row that it succeeds.

    ``known`` are those of the rows that the base has, -1 for new ones. ``table`` is "location" or
    "network", ``intervals`` are the starts and rows of each family. A new row succeeds the one
    that most of its intervals had in the base, of those that are gone. No two rows succeed the
    same; what succeeds none keeps -1.
    """
    parts = [_of_new_rows(known, table, starts, rows, base) for starts, rows in intervals]
    new, former = (np.concatenate(each) for each in zip(*parts, strict=True))
    gone = ~np.isin(former, known)
    new, former = _paired(new[gone], former[gone])
    numbers = known.copy()
    numbers[new] = former
    return numbers


def _of_new_rows(
    known: Codes, table: str, starts: Addresses, rows: Codes, base: Base
) -> tuple[Codes, Codes]:
    """Return the row of each interval that has a new one, and the row that it had in the base."""
    at = np.flatnonzero(known[rows] < 0)
    return rows[at], base.rows_at(starts[at], table)


def _paired(new: Codes, former: Codes) -> tuple[Codes, Codes]:
    """Return pairs in which no row occurs twice, of those given the most frequent."""
    codes, first = factorize([new, former])
    by_frequency = first[np.argsort(-np.bincount(codes), kind="stable")]
    best = by_frequency[np.sort(_first_of_each(new[by_frequency]))]
    best = best[_first_of_each(former[best])]
    return new[best], former[best]


def _first_of_each(values: Codes) -> Codes:
    return np.asarray(np.unique(values, return_index=True)[1], np.int32)
