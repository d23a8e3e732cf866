"""The rule on seats: where whois states the seat of a registry, the delegation decides.

For a block from IANA a registry has an object of its own in whois, with the country of its
office. That object is all that whois has for addresses without an object below it: those that
APNIC handed to national registries such as JPNIC, and in AFRINIC's oldest blocks those of
holders in America.

The rule holds in the blocks below only. In other blocks the file states the country of the office
for networks that are in use there: in AU by geofeeds, in NL and US by their holders.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from sample_data.ranges import Row, ends, parts_inside, union

#: Blocks by the country of the registry's office: APNIC in Australia, AFRINIC in Mauritius. Source:
#: IANA, "IPv6 Global Unicast Address Assignments" and "IPv4 Address Space Registry".
BLOCKS = {
    "AU": (
        *("2001:200::/23", "2001:c00::/23", "2001:e00::/23", "2001:4400::/23"),
        *("2001:8000::/19", "2001:a000::/20", "2001:b000::/20"),
    ),
    "MU": ("154.0.0.0/8", "196.0.0.0/8", "2001:4200::/23"),
}


def without_seats(rows: Iterable[Row], delegated: Sequence[Row], version: int) -> Iterator[Row]:
    """Yield rows with a country; the delegation decides where they state a registry's seat.

    ``delegated`` is sorted and disjoint.
    """
    elsewhere = _elsewhere(delegated, version)
    for row in rows:
        # row      |--------AU--------|
        # parts        |-JP-|  |-KR-|
        # yielded  |AU||-JP-|AU|-KR-|
        at = row.first
        for part in _parts(row, elsewhere):
            if at < part.first:
                yield Row(at, part.first - 1, row.cells)
            yield part
            at = part.last + 1
        if at <= row.last:
            yield Row(at, row.last, row.cells)


def seats(rows: Iterable[Row], delegated: Sequence[Row], version: int) -> Iterator[Row]:
    """Yield the parts of rows that state a registry's seat, with the delegation's country."""
    elsewhere = _elsewhere(delegated, version)
    for row in rows:
        yield from _parts(row, elsewhere)


def _elsewhere(delegated: Sequence[Row], version: int) -> dict[str, list[Row]]:
    """Return by seat the delegations to other countries in the blocks of the registry."""
    blocks = {
        country: union(ends(block) for block in blocks if (":" in block) == (version == 6))
        for country, blocks in BLOCKS.items()
    }
    return {
        country: [
            Row(first, last, row.cells)
            for row in delegated
            if row.cells[0] != country
            for first, last in parts_inside(row.first, row.last, blocks[country])
        ]
        for country in BLOCKS
    }


def _parts(row: Row, elsewhere: dict[str, list[Row]]) -> Iterator[Row]:
    others = elsewhere.get(row.cells[0], [])
    begin = max(0, bisect_right(others, row.first, key=_first) - 1)
    for other in others[begin : bisect_right(others, row.last, key=_first)]:
        first, last = max(row.first, other.first), min(row.last, other.last)
        if first <= last:
            yield Row(first, last, other.cells)


def _first(row: Row) -> int:
    return row.first
