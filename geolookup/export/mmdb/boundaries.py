"""The ranges of a dataset, as boundaries between different records in the space of 128 bits.

IPv4 addresses lie at ``::/96``. As in MaxMind's files, aliases point to that part of the tree. A
reader finds an IPv4 address by the IPv6 addresses that carry it: IPv4-mapped, Teredo (the
address of its server) and 6to4. NAT64 is added, because a lookup of the engine reads it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from geolookup.contract.special import parse_block
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Addresses, concat, empty
from geolookup.dataset.public_ranges import RangeBatch, RowNumbers, any_known, public_ranges
from geolookup.dataset.runs import run_starts
from geolookup.progress import Progress

#: In address order.
_ALIASES = ("::ffff:0:0/96", "64:ff9b::/96", "2001::/32", "2002::/16")
#: The end of ::/96, where the IPv4 addresses lie: no IPv6 address there is in the tree.
_IPV4_END = 1 << 32
#: The number of ranges of aliases: they have no pair.
ALIAS = -1
_NOTHING = 0
#: Returns the pair of each of n intervals, by its rows.
PairsOf = Callable[[RowNumbers], I64]


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


def boundaries(
    dataset: Dataset, pairs_of: PairsOf, tables: Sequence[str], progress: Progress
) -> Boundaries:
    """Return the boundaries of the intervals of a dataset, and of the aliases.

    ``tables`` decide the space (see ``public_ranges``), and ``pairs_of`` reads their rows.
    """

    def changes_of(ranges: RangeBatch) -> _Changes:
        progress.rows(len(ranges.first_low))
        first = Addresses(ranges.first_low, ranges.first_high)
        last = Addresses(ranges.last_low, ranges.last_high)
        return _changes(first, last, pairs_of(ranges.rows))

    def of_family(family: int) -> Iterator[_Changes]:
        return map(changes_of, public_ranges(dataset, family, None, any_known, tables))

    return _merge(_with_aliases(_joined([*of_family(4), _without_ipv4(_joined(of_family(6)))])))


def _joined(parts: Iterable[_Changes]) -> _Changes:
    listed = [*parts, _Changes(empty(6), np.zeros(0, np.int64))]
    starts = concat([part.starts for part in listed])
    return _Changes(starts, np.concatenate([part.pairs for part in listed]))


def _changes(first: Addresses, last: Addresses, pairs: I64) -> _Changes:
    """Return where ranges of different pairs begin, and where they end before a gap."""
    after = last.successor()  # of the last IPv6 address 0: no range follows it
    is_adjacent = after[:-1].equals(first[1:])
    # ranges   10-19: 5    20-29: 7    40-49: 7
    # begins   yes         yes         yes
    # ends     no          yes         yes         before a gap
    # index    1           2           4           10: 5, 20: 7, 30: 0, 40: 7, 50: 0
    begins = run_starts(pairs)
    begins[1:] |= ~is_adjacent
    ends = np.concatenate([~is_adjacent, ~last[-1:].is_last()])
    index = np.cumsum(begins) + np.cumsum(ends) - ends  # of a range's first address, from 1
    low, high = (np.empty(int(begins.sum() + ends.sum()), np.uint64) for _ in range(2))
    pair = np.full(len(low), _NOTHING)
    for positions, addresses in ((index[begins] - 1, first[begins]), (index[ends], after[ends])):
        low[positions], high[positions] = addresses.halves()
    pair[index[begins] - 1] = pairs[begins]
    return _Changes(Addresses(low, high), pair)


def _without_ipv4(ipv6: _Changes) -> _Changes:
    """Drop the changes of IPv6 where the IPv4 addresses lie."""
    end = Addresses.of(6, [_IPV4_END])
    (after,) = ipv6.starts.search(end)
    return _joined([_Changes(end, _pair_before(ipv6, after)), _part(ipv6, after, None)])


def _with_aliases(changes: _Changes) -> _Changes:
    """Replace the changes within aliases; after an alias, the range around it continues."""
    parts, begin = [], 0
    for _, first, last in map(parse_block, _ALIASES):
        ends = Addresses.of(6, [first, last + 1])
        until, after = changes.starts.search(ends)
        parts.append(_part(changes, begin, until))
        parts.append(_Changes(ends, np.append(ALIAS, _pair_before(changes, after))))
        begin = after
    return _joined([*parts, _part(changes, begin, None)])


def _part(changes: _Changes, begin: int, end: int | None) -> _Changes:
    return _Changes(changes.starts[begin:end], changes.pairs[begin:end])


def _pair_before(changes: _Changes, at: int) -> I64:
    return changes.pairs[at - 1 : at] if at else np.array([_NOTHING])


def _merge(changes: _Changes) -> Boundaries:
    """Drop addresses at which nothing changes; before the first address is nothing."""
    starts, pairs = changes
    # Of equal addresses only the last one counts.
    counts = np.append(run_starts(*starts.columns())[1:], True)
    if not counts.all():
        starts, pairs = starts[counts], pairs[counts]
    at = np.flatnonzero(pairs != np.concatenate([[_NOTHING], pairs[:-1]]))
    starts, pairs = starts[at], pairs[at]
    if len(starts) and starts.item(0) == 0:  # no boundary, but the pair of the first range
        return Boundaries(starts[1:], pairs)
    return Boundaries(starts, np.concatenate([[_NOTHING], pairs]))
