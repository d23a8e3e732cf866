"""``is_dst``, offset and abbreviation of every zone, against the zone files themselves.

Strategy: the files are parsed here by RFC 8536, transitions and footer, without `zoneinfo`.
Between two transitions of 1970 to 2037 the file states one local time type; a lookup at the
first second, in the middle and at the last second must agree with it.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import pytest

from geolookup.contract.localtime import time_object
from tests.contract.test_localtime import ZONES, tzif, unix

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


class Type(NamedTuple):
    """A local time type of a file: seconds east of UTC, the flag, the abbreviation."""

    offset: int
    is_dst: bool
    abbr: str


@cache
def types(data: bytes) -> list[tuple[int, Type]]:
    """The seconds from which each local time type holds, to the end of 2101."""
    header = struct.Struct(">4sc15x6l")
    _, version, ut, standard, leaps, times, count, characters = header.unpack_from(data)
    assert version >= b"2"
    begin = header.size + times * 5 + count * 6 + characters + leaps * 8 + standard + ut
    _, _, ut, standard, leaps, times, count, characters = header.unpack_from(data, begin)
    begin += header.size
    instants = struct.unpack_from(f">{times}q", data, begin)
    indices = data[begin + 8 * times :][:times]
    table = data[begin + 9 * times :]
    names = table[6 * count :][:characters]
    kinds = [
        Type(offset, bool(flag), names[name : names.index(0, name)].decode())
        for offset, flag, name in struct.iter_unpack(">lBB", table[: 6 * count])
    ]
    found = [(-(1 << 63), kinds[0]), *zip(instants, (kinds[at] for at in indices), strict=True)]
    footer = data[:-1].rpartition(b"\n")[2].decode()
    after = instants[-1] if instants else -(1 << 63)
    return found + [each for each in by_rule(footer) if each[0] > after]


_NAME, _HOURS = r"(<[^>]+>|[A-Za-z]+)", r"([-+]?\d+(?::\d+)*)"
_WHEN = rf",M(\d+)\.(\d)\.(\d)(?:/{_HOURS})?"
_RULE = re.compile(f"{_NAME}{_HOURS}(?:{_NAME}{_HOURS}?{_WHEN}{_WHEN})?")


def by_rule(footer: str) -> Iterator[tuple[int, Type]]:
    """The changes that a footer states (a TZ string of POSIX, section 3.3 of the RFC)."""
    matched = _RULE.fullmatch(footer)
    assert matched, footer
    name, hours, other, other_hours, *when = matched.groups()
    standard = Type(-_seconds(hours), False, name.strip("<>"))
    if other is None:
        return
    ahead = standard.offset + 3600 if other_hours is None else -_seconds(other_hours)
    daylight = Type(ahead, True, other.strip("<>"))
    for year in range(1901, 2102):
        yield from sorted(
            [
                (_change(year, when[:4]) - standard.offset, daylight),
                (_change(year, when[4:]) - daylight.offset, standard),
            ]
        )


def _seconds(text: str) -> int:
    """Seconds of ``[-]hours[:minutes[:seconds]]``."""
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    found: int = sum(part * 60 ** (2 - at) for at, part in enumerate(parts))
    return -found if text.startswith("-") else found


def _change(year: int, when: list[str | None]) -> int:
    """The local seconds of ``Mmonth.week.day/time``: week 5 is the last, day 0 is Sunday."""
    month, week, day = (int(each or 0) for each in when[:3])
    first = datetime(year, month, 1, tzinfo=UTC)
    days = [first + timedelta(each) for each in range(31)]
    fit = [each for each in days if each.month == month and each.isoweekday() % 7 == day]
    midnight = fit[min(week, len(fit)) - 1]
    return int(midnight.timestamp()) + _seconds(when[3] or "2")


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
        assert (unix(text), Type(*kind)) in listed


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
            assert found["abbr"] == kind.abbr, (zone, at)
            assert found["is_dst"] == (kind.is_dst != reversed_at(zone, at)), (zone, at)
            assert abs(int(str(found["utc_offset_seconds"])) - kind.offset) <= 30, (zone, at)
