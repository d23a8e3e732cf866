"""The ranges of a dataset, as boundaries between different records in the space of 128 bits.

IPv4 addresses lie at ``::/96``. As in MaxMind's files, aliases point to that part of the tree. A
reader finds an IPv4 address by the IPv6 addresses that carry it: IPv4-mapped, Teredo (the
address of its server) and 6to4. NAT64 is added, because a lookup of the engine reads it too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from geolookup.contract.special import parse_block
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses, concat
from geolookup.dataset.public_ranges import RangeBatch, RowNumbers, any_known, public_ranges
from geolookup.dataset.runs import run_starts
from geolookup.progress import Progress

_ALIASES = ("::ffff:0:0/96", "64:ff9b::/96", "2001::/32", "2002::/16")
#: The last address of ::/96, where the IPv4 addresses lie: no IPv6 address there is in the tree.
_IPV4_LAST = (1 << 32) - 1
#: The numbers of ranges without a pair: of aliases, and of nothing.
ALIAS, NOTHING = -1, 0
#: Returns the pair of each of n intervals, by its rows.
PairsOf = Callable[[RowNumbers], I64]


class Boundaries(NamedTuple):
    """n ascending addresses, and the pair (see ``pairs``) that begins at each, or ALIAS, NOTHING.

    Of equal addresses the last counts; before the first address is NOTHING.
    """

    starts: Addresses
    pairs: I64

    def part(self, begin: int, end: int | None) -> Boundaries:
        """Return some of them."""
        return Boundaries(self.starts[begin:end], self.pairs[begin:end])


def boundaries(
    dataset: Dataset, pairs_of: PairsOf, tables: Sequence[str], progress: Progress
) -> Boundaries:
    """Return the boundaries of the intervals of a dataset and of the aliases, each a change.

    ``tables`` decide the space (see ``public_ranges``), and ``pairs_of`` reads their rows.
    """

    def of_family(family: int) -> Boundaries:
        parts = [_of([], [])]
        for ranges in public_ranges(dataset, family, None, any_known, tables):
            progress.rows(len(ranges.first_low))
            parts.append(_changes(_ends(ranges, pairs_of(ranges.rows))))
        return _join(parts)

    space = _replace(of_family(6), 0, _IPV4_LAST, of_family(4))
    for _, first, last in map(parse_block, _ALIASES):
        space = _replace(space, first, last, _of([first], [ALIAS]))
    return _changes(space)


def _of(addresses: Sequence[int], pairs: Sequence[int]) -> Boundaries:
    return Boundaries(Addresses.of(6, addresses), np.array(pairs, np.int64))


def _join(parts: Sequence[Boundaries]) -> Boundaries:
    starts = concat([part.starts for part in parts])
    return Boundaries(starts, np.concatenate([part.pairs for part in parts]))


def _ends(ranges: RangeBatch, pairs: I64) -> Boundaries:
    """Return where ranges begin, and where nothing begins after them."""
    after_low, after_high = Addresses(ranges.last_low, ranges.last_high).successor().halves()
    # ranges 10-19: 5 and 20-29: 7 give 10: 5, 20: nothing, 20: 7, 30: nothing.
    halves = ((ranges.first_low, after_low), (ranges.first_high, after_high))
    low, high = (np.stack(half, axis=1).ravel() for half in halves)
    changes = np.stack([pairs, np.full_like(pairs, NOTHING)], axis=1).ravel()
    both = Boundaries(Addresses(low, high), changes)
    # The last IPv6 address + 1 is 0: nothing begins there.
    return both if both.starts.item(-1) else both.part(0, -1)


def _replace(space: Boundaries, first: int, last: int, inner: Boundaries) -> Boundaries:
    """Replace the boundaries from ``first`` to ``last``; after them the range there continues."""
    begin, end = space.starts.search(Addresses.of(6, [first, last + 1]))
    continued = int(space.pairs[end - 1]) if end else NOTHING
    until, after = _of([first], [NOTHING]), _of([last + 1], [continued])
    return _join([space.part(0, begin), until, inner, after, space.part(end, None)])


def _changes(space: Boundaries) -> Boundaries:
    """Drop the addresses at which nothing changes."""
    starts, pairs = space
    counts = np.append(run_starts(*starts.columns())[1:], True)[: len(starts)]
    starts, pairs = starts[counts], pairs[counts]
    at = np.flatnonzero(np.diff(pairs, prepend=NOTHING))
    return Boundaries(starts[at], pairs[at])
