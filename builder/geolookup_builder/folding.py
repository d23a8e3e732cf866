"""IPv6 ranges in IPv4-mapped space, folded: the part inside becomes an IPv4 row.

It keeps the specificity of the range as stated, so narrower IPv4 rows decide.
"""

from __future__ import annotations

import numpy as np

from geolookup.contract.special import CARRIES_IPV4, ranges_of
from geolookup.dataset.intervals import I64, Addresses, Bools, clamp
from geolookup_builder.build_report import SourceReport
from geolookup_builder.flatten import Keys, Ranges, duplicates, stated_keys

#: IPv4-mapped space is folded into IPv4; NAT64 and 6to4 space is excluded.
FOLDED, *EXCLUDED = ranges_of(6, CARRIES_IPV4)


def into_mapped(ranges: Ranges) -> I64:
    """Return which IPv6 ranges reach into IPv4-mapped space."""
    begin, end = (Addresses.of(6, [bound]) for bound in FOLDED)
    return np.flatnonzero(~(ranges.last < begin) & ~(end < ranges.first))


def folded(ranges: Ranges, report: SourceReport) -> Ranges:
    """Return the IPv4 parts of IPv6 ranges that reach into IPv4-mapped space, and count them."""
    # ::fffe:ffff:0 - ::ffff:8.8.8.8 becomes 0.0.0.0 - 8.8.8.8.
    first, last = (_from_mapped(clamp(ends, *FOLDED)) for ends in (ranges.first, ranges.last))
    report.rows_folded += len(ranges)
    # Last less first, and one more address of each row.
    report.addresses_folded += last.minus(first).total() + len(ranges)
    return Ranges(first, last, ranges.position, stated_keys(ranges.first, ranges.last))


def mapped_keys(ranges: Ranges) -> Keys:
    """Return the specificity of IPv4 ranges on the scale of stated IPv6 ranges."""
    return stated_keys(*(_as_mapped(ends) for ends in (ranges.first, ranges.last)))


def count_duplicates(ranges: Ranges) -> int:
    """Return the number of ranges of a family that are equal to a later one as stated.

    A range inside IPv4-mapped space counts in IPv4.
    """
    if ranges.first.family == 4:
        return duplicates(ranges if ranges.keys is None else ranges[_is_stated(ranges)])
    begin, end = (Addresses.of(6, [bound]) for bound in FOLDED)
    is_inside = ~(ranges.first < begin) & ~(end < ranges.last)
    return duplicates(ranges[~is_inside] if is_inside.any() else ranges)


def _is_stated(ranges: Ranges) -> Bools:
    """Mark the IPv4 ranges that are not only a part of the range as stated."""
    if ranges.keys is None:
        return np.ones(len(ranges), bool)
    high, low, *_ = ranges.keys
    is_same: Bools = (high == 0) & (low == ranges.last.minus(ranges.first).low)
    return is_same


def _from_mapped(ends: Addresses) -> Addresses:
    return Addresses((ends.low & np.uint64(0xFFFF_FFFF)).astype(np.uint32))


def _as_mapped(ends: Addresses) -> Addresses:
    # 8.8.8.8 becomes ::ffff:8.8.8.8.
    return Addresses(ends.low | np.uint64(FOLDED[0]), np.zeros(len(ends), np.uint64))
