"""What of the stated ranges no lookup can reach: counted here, hidden by ``layers.blank``.

Private space answers 10002 whatever a source says; addresses in 6to4 and
NAT64 space are looked up by the IPv4 address they carry.
"""

from __future__ import annotations

from geolookup.contract.address import EMBEDDED
from geolookup.contract.special import Range, private_ranges
from geolookup.dataset.intervals import Bools, Points, clamp
from geolookup_builder.flatten import Ranges
from geolookup_builder.report import SourceReport

_MAPPED, _NAT64, _SIX_TO_FOUR = EMBEDDED


def hidden(family: int) -> tuple[Range, ...]:
    """Return the ranges of a family that no dataset describes: private, or carrying IPv4."""
    ranges = list(private_ranges(family))
    if family == 6:
        ranges = _union(ranges + list(EMBEDDED))
    return tuple(ranges)


def _union(ranges: list[Range]) -> list[Range]:
    joined: list[Range] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def count(ranges: Ranges, family: int, report: SourceReport) -> Bools:
    """Count addresses clipped (private), rows and addresses cut (6to4, NAT64).

    Returns which rows are clipped, for a row folded in part is met in both families.
    """
    report.addresses_clipped += _addresses_inside(ranges, _private_alone(family))
    if family == 6:
        cut = (_NAT64, _SIX_TO_FOUR)
        report.rows_cut += int(_rows_inside(ranges, cut).sum())
        report.addresses_cut += _addresses_inside(ranges, cut)
    return _rows_inside(ranges, _private_alone(family))


def _private_alone(family: int) -> tuple[Range, ...]:
    """Return private space without what carries an IPv4 address, which is counted apart."""
    return tuple(
        piece for whole in private_ranges(family) for piece in _without(whole, EMBEDDED, family)
    )


def _without(whole: Range, holes: tuple[Range, ...], family: int) -> list[Range]:
    first, last = whole
    pieces = []
    for hole_first, hole_last in holes if family == 6 else ():
        if first <= hole_first <= last:
            pieces.append((first, hole_first - 1))
            first = hole_last + 1
    pieces.append((first, last))
    return [(a, b) for a, b in pieces if a <= b]


def _rows_inside(ranges: Ranges, blocks: tuple[Range, ...]) -> Bools:
    family, maximum = ranges.first.family, ranges.first.maximum
    ends = [bound for first, last in blocks for bound in (first, last + 1)]
    bounds = Points.of(family, [bound for bound in ends if bound <= maximum])
    before_first, before_last = bounds.search(ranges.first), bounds.search(ranges.last)
    inside: Bools = (before_first % 2 == 1) | (before_first != before_last)
    return inside


def _addresses_inside(ranges: Ranges, blocks: tuple[Range, ...]) -> int:
    total = 0
    for first, last in blocks:
        begin, end = (Points.of(ranges.first.family, [bound]) for bound in (first, last))
        touched = ~(ranges.last < begin) & ~(end < ranges.first)
        if touched.any():
            inner_first = clamp(ranges.first[touched], first, last)
            inner_last = clamp(ranges.last[touched], first, last)
            total += inner_last.minus(inner_first).total() + int(touched.sum())
    return total
