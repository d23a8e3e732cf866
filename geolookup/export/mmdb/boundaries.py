"""The ranges of a dataset with one record each, as boundaries in the space of 128 bits.

IPv4 addresses lie at ``::/96``. MaxMind's writers let other networks refer to that part of the
tree, so that a reader finds an IPv4 address by the IPv6 addresses that carry it: IPv4-mapped,
Teredo (its server) and 6to4. NAT64 is added to them, because lookups read it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from geolookup.contract.special import parse_block
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses, concat, empty
from geolookup.dataset.public_ranges import U32, known, public_ranges
from geolookup.progress import Progress

#: In address order.
_ALIASES = ("::ffff:0:0/96", "64:ff9b::/96", "2001::/32", "2002::/16")
#: The number that ranges of aliases have in place of a pair.
ALIAS = -1
_NOTHING = 0
PairsOf = Callable[[U32, U32], I64]


class Boundaries(NamedTuple):
    """Where what an address has changes.

    ``starts`` are n boundaries, ascending from above 0, ``pairs`` the pairs of the n + 1 ranges
    that they part: 0 for nothing, ALIAS for an alias of IPv4.
    """

    starts: Addresses
    pairs: I64


class _Ranges(NamedTuple):
    """n ranges in address order, both ends included."""

    first: Addresses
    last: Addresses
    pairs: I64


def boundaries(dataset: Dataset, pairs_of: PairsOf, progress: Progress) -> Boundaries:
    """Return the boundaries of the public intervals of a dataset, and of the aliases."""
    found = [
        _joined(each) for family in (4, 6) for each in _ranges(dataset, family, pairs_of, progress)
    ]
    return _changes(_with_aliases(found))


def _ranges(
    dataset: Dataset, family: int, pairs_of: PairsOf, progress: Progress
) -> Iterator[_Ranges]:
    for each in public_ranges(dataset, family, chosen=known):
        progress.rows(len(each.first_low))
        first = Addresses(each.first_low, each.first_high)
        last = Addresses(each.last_low, each.last_high)
        yield _Ranges(first, last, pairs_of(each.location_rows, each.network_rows))


def _joined(ranges: _Ranges) -> _Ranges:
    """Join adjacent ranges of one pair."""
    first, last, pairs = ranges
    begins = np.ones(len(pairs), bool)
    begins[1:] = ~first[1:].equals(last[:-1].successor()) | (pairs[1:] != pairs[:-1])
    at = np.flatnonzero(begins)
    return _Ranges(first[at], last[np.append(at[1:], len(pairs)) - 1], pairs[at])


def _with_aliases(parts: list[_Ranges]) -> _Ranges:
    blocks = [parse_block(block)[1:] for block in _ALIASES]
    first, last = (Addresses.of(6, ends) for ends in zip(*blocks, strict=True))
    nothing = _Ranges(empty(6), empty(6), np.zeros(0, np.int64))
    firsts = concat([each.first for each in (*parts, nothing)])
    lasts = concat([each.last for each in (*parts, nothing)])
    pairs = np.concatenate([each.pairs for each in (*parts, nothing)])
    at = firsts.search(first)
    return _Ranges(
        _inserted(firsts, at, first), _inserted(lasts, at, last), np.insert(pairs, at, ALIAS)
    )


def _inserted(into: Addresses, at: I64, addresses: Addresses) -> Addresses:
    pairs = zip(into.halves(), addresses.halves(), strict=True)
    return Addresses(*(np.insert(half, at, added) for half, added in pairs))


def _changes(ranges: _Ranges) -> Boundaries:
    """Return where ranges begin, and where they end before a gap."""
    first, last, pairs = ranges
    after = last.successor()  # no public range ends with the last address
    ends = np.ones(len(pairs), bool)
    ends[:-1] = ~after[:-1].equals(first[1:])
    place = np.arange(len(pairs)) + np.cumsum(ends) - ends
    low, high = (np.empty(len(pairs) + int(ends.sum()), np.uint64) for _ in range(2))
    of = np.full(len(low), _NOTHING, np.int64)
    for positions, addresses in ((place, first), (place[ends] + 1, after[ends])):
        low[positions], high[positions] = addresses.halves()
    of[place] = pairs
    return _merged(Addresses(low, high), of)


def _merged(starts: Addresses, pairs: I64) -> Boundaries:
    """Drop boundaries at which nothing changes; the addresses before the first have nothing."""
    before = np.concatenate([[_NOTHING], pairs[:-1]])
    at = np.flatnonzero(pairs != before)
    kept = starts[at]
    return Boundaries(kept, np.concatenate([[_NOTHING], pairs[at]]))
