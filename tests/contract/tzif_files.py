"""TZif files (RFC 9636) for tests: from the deciding database, and written ones.

They are read here without `zoneinfo`, and by it.
"""

from __future__ import annotations

import re
import struct
import zoneinfo
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module, resources
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

from geolookup.contract.tzdatabase import database, zone_names

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR, DAY = 3600, 86400
ZONES = sorted(zone_names())
#: `zoneinfo` in Python: the one in C crashes on some files.
_PLAIN = import_module("zoneinfo._zoneinfo").ZoneInfo

#: Seconds east of UTC, whether it is daylight saving, the abbreviation.
Type = tuple[int, bool, str]


def written(
    types: Sequence[Type],
    transitions: Sequence[tuple[int, int]] = (),
    footer: str = "",
    version: int = 2,
) -> bytes:
    """Return a file; a transition is a Unix second and the number of the type from then on."""
    if version == 1:
        return _block(1, types, transitions, "l")
    empty = _block(version, [(0, False, "UTC")], (), "l")
    return empty + _block(version, types, transitions, "q") + f"\n{footer}\n".encode()


def _block(
    version: int, types: Sequence[Type], transitions: Sequence[tuple[int, int]], code: str
) -> bytes:
    names = "".join(f"{name}\0" for *_, name in types).encode()
    starts = [sum(len(name) + 1 for *_, name in types[:at]) for at in range(len(types))]
    stated = str(version).encode() if version > 1 else b"\0"
    header = b"TZif" + stated + bytes(15)
    header += struct.pack(">6L", 0, 0, 0, len(transitions), len(types), len(names))
    times = struct.pack(f">{len(transitions)}{code}", *(at for at, _ in transitions))
    records = [
        struct.pack(">lBB", offset, marked, start)
        for (offset, marked, _), start in zip(types, starts, strict=True)
    ]
    return header + times + bytes(kind for _, kind in transitions) + b"".join(records) + names


def plain_zone(data: bytes) -> ZoneInfo:
    """Return the zone of a file; the file need not be one that the tz database has."""
    result: ZoneInfo = _PLAIN.from_file(BytesIO(data))
    return result


def by_zoneinfo(zone: ZoneInfo, at: int) -> Type:
    """Return what `zoneinfo` has at a Unix second."""
    local = (EPOCH + timedelta(seconds=at)).astimezone(zone)
    offset = local.utcoffset() or timedelta()
    return offset // timedelta(seconds=1), bool(local.dst()), str(local.tzname())


# Files that are read.


def unix(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(seconds=1)


@cache
def tzif(zone: str) -> bytes:
    """The file of a zone, of the deciding database."""
    system = [Path(root, zone) for root in zoneinfo.TZPATH]
    packaged = Path(str(resources.files("tzdata")), "zoneinfo", zone)
    files = [packaged, *system] if database().source == "package" else [*system, packaged]
    return next(file for file in files if file.is_file()).read_bytes()


def transitions(zone: str) -> tuple[int, ...]:
    """The seconds at which the table of a file changes offset, mark or abbreviation."""
    listed, _ = table(tzif(zone))
    return tuple(at for (_, old), (at, new) in pairwise(listed) if old != new)


@cache
def types(data: bytes) -> list[tuple[int, Type]]:
    """The seconds from which each local time type holds, to the end of 2101."""
    listed, footer = table(data)
    return listed + [item for item in by_rule(footer) if item[0] > listed[-1][0]]


def table(data: bytes) -> tuple[list[tuple[int, Type]], str]:
    """The seconds from which each local time type of a table holds, and the footer."""
    header = struct.Struct(">4sc15x6l")
    _, version, ut, standard, leaps, times, count, characters = header.unpack_from(data)
    assert version >= b"2"
    begin = header.size + times * 5 + count * 6 + characters + leaps * 8 + standard + ut
    _, _, ut, standard, leaps, times, count, characters = header.unpack_from(data, begin)
    begin += header.size
    instants = struct.unpack_from(f">{times}q", data, begin)
    indices = data[begin + 8 * times :][:times]
    records = data[begin + 9 * times :]
    names = records[6 * count :][:characters]
    kinds = [
        (offset, bool(flag), names[name : names.index(0, name)].decode())
        for offset, flag, name in struct.iter_unpack(">lBB", records[: 6 * count])
    ]
    listed = [(-(1 << 63), kinds[0]), *zip(instants, (kinds[at] for at in indices), strict=True)]
    return listed, data[:-1].rpartition(b"\n")[2].decode()


_NAME, _HOURS = r"(<[^>]+>|[A-Za-z]+)", r"([-+]?\d+(?::\d+)*)"
_WHEN = rf",M(\d+)\.(\d)\.(\d)(?:/{_HOURS})?"
_RULE = re.compile(f"{_NAME}{_HOURS}(?:{_NAME}{_HOURS}?{_WHEN}{_WHEN})?")


def by_rule(footer: str) -> Iterator[tuple[int, Type]]:
    """The changes that a footer states (a TZ string of POSIX, section 3.3 of the RFC)."""
    matched = _RULE.fullmatch(footer)
    assert matched, footer
    name, hours, other, other_hours, *when = matched.groups()
    standard = (-_seconds(hours), False, name.strip("<>"))
    if other is None:
        return
    ahead = standard[0] + 3600 if other_hours is None else -_seconds(other_hours)
    daylight = (ahead, True, other.strip("<>"))
    for year in range(1901, 2102):
        yield from sorted(
            [
                (_change(year, when[:4]) - standard[0], daylight),
                (_change(year, when[4:]) - daylight[0], standard),
            ]
        )


def _seconds(text: str) -> int:
    """Seconds of ``[-]hours[:minutes[:seconds]]``."""
    parts = [int(part) for part in text.lstrip("+-").split(":")]
    result: int = sum(part * 60 ** (2 - at) for at, part in enumerate(parts))
    return -result if text.startswith("-") else result


def _change(year: int, when: list[str | None]) -> int:
    """The local seconds of ``Mmonth.week.day/time``: week 5 is the last, day 0 is Sunday."""
    month, week, day = (int(item or 0) for item in when[:3])
    first = datetime(year, month, 1, tzinfo=UTC)
    days = [first + timedelta(index) for index in range(31)]
    fit = [item for item in days if item.month == month and item.isoweekday() % 7 == day]
    midnight = fit[min(week, len(fit)) - 1]
    return int(midnight.timestamp()) + _seconds(when[3] or "2")
