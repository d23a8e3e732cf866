"""Counts the parts of ranges that lookups never search; ``layers.hide`` removes them.

A lookup in private space always answers 10002. A lookup in 6to4 or NAT64 space uses the IPv4
address that the address carries. ``gather`` has folded IPv4-mapped ranges into IPv4 before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geolookup.contract.special import CARRIES_IPV4, PRIVATE, Range, ranges_of
from geolookup.dataset.intervals import Addresses, Bools, clamp, cut_at
from geolookup_builder.flatten import Ranges

#: IPv4-mapped space is folded into IPv4; NAT64 and 6to4 space is excluded.
FOLDED, *_EXCLUDED = ranges_of(6, CARRIES_IPV4)


def hidden(family: int) -> tuple[Range, ...]:
    """Return the ranges of a family that no dataset describes: private, or carrying IPv4."""
    return ranges_of(family, PRIVATE, CARRIES_IPV4)


@dataclass(frozen=True, slots=True)
class Clipped:
    """The parts of one family's ranges that no lookup reaches: a mask of rows, and counts."""

    private: Bools
    addresses: int  # private ones
    excluded_rows: int  # in 6to4 and NAT64 space
    excluded_addresses: int


def count(ranges: Ranges, family: int) -> Clipped:
    """Count clipped (private) addresses, and excluded (6to4, NAT64) rows and addresses.

    The caller counts the clipped rows, because a row that is partly folded has ranges of
    both families.
    """
    private, excluded = ranges_of(family, PRIVATE), _EXCLUDED if family == 6 else ()
    in_private, in_excluded = _rows_inside(ranges, private), _rows_inside(ranges, excluded)
    return Clipped(
        in_private,
        _addresses_inside(ranges, private) if in_private.any() else 0,
        int(in_excluded.sum()),
        _addresses_inside(ranges, excluded) if in_excluded.any() else 0,
    )


def _rows_inside(ranges: Ranges, blocks: Sequence[Range]) -> Bools:
    """Mark the ranges with an address in a block; the blocks are not adjacent."""
    starts, within = cut_at(ranges.first.family, blocks)
    begin, end = starts.search(ranges.first) - 1, starts.search(ranges.last) - 1
    inside: Bools = within[begin] | (begin != end)
    return inside


def _addresses_inside(ranges: Ranges, blocks: Sequence[Range]) -> int:
    total = 0
    for first, last in blocks:
        begin, end = (Addresses.of(ranges.first.family, [bound]) for bound in (first, last))
        touched = ~(ranges.last < begin) & ~(end < ranges.first)
        if touched.any():
            inner_first = clamp(ranges.first[touched], first, last)
            inner_last = clamp(ranges.last[touched], first, last)
            total += inner_last.minus(inner_first).total() + int(touched.sum())
    return total
