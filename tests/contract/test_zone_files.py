"""``is_dst``, offset and abbreviation of every zone, against the zone files themselves.

Strategy: ``tzif_files`` parses the files by RFC 9636, transitions and footer, without `zoneinfo`.
Between two transitions of 1970 to 2037 the file states one local time type; a lookup at the
first second, in the middle and at the last second must agree with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from geolookup.contract.localtime import time_object
from tests.contract.tzif_files import ZONES, Type, types, tzif, unix

BEGIN, END = unix("1970-01-01T00:00:00Z"), unix("2038-01-01T00:00:00Z")
#: Zones that the database defines with a negative saving, and when: the file flags their
#: winter, or Ramadan, and the contract calls the other part of the year daylight saving.
REVERSED = {
    "Africa/Casablanca": ("2019", "2026-09-20T01"),
    "Africa/El_Aaiun": ("2019", "2026-09-20T01"),
    "Africa/Windhoek": ("1994", "2017-10-24"),
    "Eire": ("1971", "2038"),
    "Europe/Dublin": ("1971", "2038"),
}


def stretches(zone: str) -> Iterator[tuple[int, int, Type]]:
    """First and last second of each local time type between 1970 and 2037."""
    listed = types(tzif(zone))
    at = bisect_right([when for when, _ in listed], BEGIN) - 1
    changes = [*(each for each in listed[at:] if each[0] < END), (END, listed[-1][1])]
    for (begin, kind), (end, _) in pairwise(changes):
        yield max(begin, BEGIN), end - 1, kind


def reversed_at(zone: str, second: int) -> bool:
    """Whether the file flags the part of the year in which clocks are behind."""
    first, last = REVERSED.get(zone, ("9999", ""))
    return first <= datetime.fromtimestamp(second, UTC).isoformat() < last


def test_the_parser_reads_a_file_that_is_known() -> None:
    listed = types(tzif("America/New_York"))
    for text, kind in (
        ("1974-01-06T07:00:00Z", (-14400, True, "EDT")),
        ("2007-03-11T07:00:00Z", (-14400, True, "EDT")),
        ("2037-11-01T06:00:00Z", (-18000, False, "EST")),
    ):
        assert (unix(text), kind) in listed


@pytest.mark.parametrize(
    "zone",
    [*REVERSED, "America/Nome", "America/Santo_Domingo", "Europe/Samara", "Australia/Lord_Howe"],
)
def test_zones_that_are_special(zone: str) -> None:
    check(zone, stretches(zone))


@pytest.mark.long
def test_every_zone() -> None:
    assert len(ZONES) > 500
    names = defaultdict(list)
    for zone in ZONES:
        names[tzif(zone)].append(zone)
    for first, *links in names.values():
        check(first, stretches(first))
        for link in links:  # the same file: a few years tell that it is the one that is read
            check(link, list(stretches(link))[-3:])


def check(zone: str, listed: Iterable[tuple[int, int, Type]]) -> None:
    for first, last, kind in listed:
        for at in {first, (first + last) // 2, last}:
            found = time_object(zone, at)
            assert found["abbr"] == kind[2], (zone, at)
            assert found["is_dst"] == (kind[1] != reversed_at(zone, at)), (zone, at)
            assert abs(int(str(found["utc_offset_seconds"])) - kind[0]) <= 30, (zone, at)
