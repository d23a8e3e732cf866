"""The ranges of a dataset, as boundaries between different records in the space of 128 bits.

IPv4 addresses lie at ``::/96``. As in MaxMind's files, aliases point to that part of the tree. A
reader finds an IPv4 address by the IPv6 addresses that carry it: IPv4-mapped, Teredo (the
address of its server) and 6to4. NAT64 is added, because a lookup of the engine reads it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from geolookup.contract.special import parse_block
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses, concat, empty
from geolookup.dataset.public_ranges import Rows, any_known, public_ranges
from geolookup.progress import Progress

#: In address order.
_ALIASES = ("::ffff:0:0/96", "64:ff9b::/96", "2001::/32", "2002::/16")
#: The number of ranges of aliases: they have no pair.
ALIAS = -1
_NOTHING = 0
#: Returns the pair of each of n intervals, by its rows.
PairsOf = Callable[[Rows], I64]


class Boundaries(NamedTuple):
    """n boundaries, and the n + 1 ranges between them.

    ``starts`` are the boundaries, ascending, none of them 0. ``pairs`` are the pairs (see
    ``records.Records``) of the ranges: 0 for nothing, ALIAS for an alias of IPv4.
    """

    starts: Addresses
    pairs: I64


class _Changes(NamedTuple):
    """n ascending addresses, and the pair that begins at each; of equal ones the last counts."""

    starts: Addresses
    pairs: I64


def boundaries(dataset: Dataset, pairs_of: PairsOf, progress: Progress) -> Boundaries:
    """Return the boundaries of the public intervals of a dataset, and of the aliases."""
    parts = [part for family in (4, 6) for part in _of_family(dataset, family, pairs_of, progress)]
    nothing = _Changes(empty(6), np.zeros(0, np.int64))
    changes = _Changes(
        concat([part.starts for part in (*parts, nothing)]),
        np.concatenate([part.pairs for part in (*parts, nothing)]),
    )
    del parts  # as large as the changes
    return _merge(_with_aliases(changes))


def _of_family(
    dataset: Dataset, family: int, pairs_of: PairsOf, progress: Progress
) -> Iterator[_Changes]:
    for ranges in public_ranges(dataset, family, selector=any_known):
        progress.rows(len(ranges.first_low))
        yield _changes(
            Addresses(ranges.first_low, ranges.first_high),
            Addresses(ranges.last_low, ranges.last_high),
            pairs_of(ranges.rows),
        )


def _changes(first: Addresses, last: Addresses, pairs: I64) -> _Changes:
    """Return where ranges of different pairs begin, and where they end before a gap."""
    after = last.successor()  # no public range ends with the last address of the space
    is_adjacent = after[:-1].equals(first[1:])
    # ranges   10-19: 5    20-29: 7    40-49: 7
    # begins   yes         yes         yes
    # ends     no          yes         yes         before a gap
    # index    1           2           4           10: 5, 20: 7, 30: 0, 40: 7, 50: 0
    begins = np.concatenate([[True], ~is_adjacent | (pairs[1:] != pairs[:-1])])
    ends = np.concatenate([~is_adjacent, [True]])
    index = np.cumsum(begins) + np.cumsum(ends) - ends  # of a range's first address, from 1
    low, high = (np.empty(int(begins.sum() + ends.sum()), np.uint64) for _ in range(2))
    pair = np.full(len(low), _NOTHING)
    for positions, addresses in ((index[begins] - 1, first[begins]), (index[ends], after[ends])):
        low[positions], high[positions] = addresses.halves()
    pair[index[begins] - 1] = pairs[begins]
    return _Changes(Addresses(low, high), pair)


def _with_aliases(changes: _Changes) -> _Changes:
    """Insert where aliases begin and end; nothing is known within them."""
    blocks = [parse_block(block)[1:] for block in _ALIASES]
    ends = Addresses.of(6, [end for first, last in blocks for end in (first, last + 1)])
    at = np.repeat(changes.starts.search(ends[::2]), 2)
    halves = zip(changes.starts.halves(), ends.halves(), strict=True)
    starts = Addresses(*(np.insert(half, at, added) for half, added in halves))
    return _Changes(starts, np.insert(changes.pairs, at, [ALIAS, _NOTHING] * len(blocks)))


def _merge(changes: _Changes) -> Boundaries:
    """Drop addresses at which nothing changes; before the first address is nothing."""
    starts, pairs = changes
    # Of equal addresses only the last one counts.
    counts = np.append(~starts[:-1].equals(starts[1:]), True)
    if not counts.all():
        starts, pairs = starts[counts], pairs[counts]
    at = np.flatnonzero(pairs != np.concatenate([[_NOTHING], pairs[:-1]]))
    return Boundaries(starts[at], np.concatenate([[_NOTHING], pairs[at]]))
