"""All networks of a dataset by a plain walk, interval by interval: an oracle for prefixes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, TypeAlias

import geolookup
from tests.internals.contract import BITS, MAX, PUBLIC, ranges_of
from tests.internals.dataset import Dataset, Network, limits_of, network_at
from tests.internals.kernel import state_of

#: A network, and data without ip, ip_type and time.
Walked: TypeAlias = tuple[Network, dict[str, Any]]
_PUBLIC = {family: ranges_of(family, PUBLIC) for family in (4, 6)}


def walk(engine: geolookup.Engine, within: object = None) -> Iterator[Walked]:
    """Yield each known network with its record, in address order, IPv4 before IPv6.

    The public parts of an interval are split into aligned networks.
    """
    state = state_of(engine)
    for family, first, last in limits_of(within):
        starts = state.dataset.starts(family)
        interval = starts.interval(first)
        while interval < len(starts) and starts[interval] <= last:
            rows = rows_at(state.dataset, family, interval)
            begins, ends = starts.ends(interval)
            if rows != (0, 0):
                for begin, end in _public(family, max(begins, first), min(ends, last)):
                    for network in _aligned(family, begin, end):
                        yield network, state.record(*rows)
            interval += 1


def rows_at(dataset: Dataset, family: int, interval: int) -> tuple[int, int]:
    """Return the location and network rows of an interval."""
    columns = dataset.row_columns(family)
    return columns["location"][interval], columns["network"][interval]


def _public(family: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range that lie in public space."""
    position = max(bisect_right(_PUBLIC[family], (first, MAX[family])) - 1, 0)
    for begin, end in _PUBLIC[family][position:]:
        if begin > last:
            break
        if end >= first:
            yield max(begin, first), min(end, last)


def _aligned(family: int, first: int, last: int) -> Iterator[Network]:
    """Yield the networks of a range: 8.8.8.4 - 8.8.8.15 are 8.8.8.4/30 and 8.8.8.8/29."""
    while first <= last:
        # The lowest bit that is set limits the size, and so does the length.
        alignment = (first & -first).bit_length() - 1 if first else BITS[family]
        bits = min(alignment, (last - first + 1).bit_length() - 1)
        yield network_at(family, first, bits)
        first += 1 << bits
