"""TZif files (RFC 9636) for tests: from the deciding database, and written ones."""

from __future__ import annotations

import struct
import zoneinfo
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module, resources
from io import BytesIO
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from tests.internals.contract import Zone, database, zone_names

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR, DAY = 3600, 86400
_FIRST = -(10**10)  # no zone changed before the year 1800
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


@cache
def transitions(zone: str) -> tuple[int, ...]:
    """The seconds at which the table of a file changes the local time, as `zoneinfo` reads it."""
    rules: Any = plain_zone(tzif(zone))
    listed = [at for at in rules._trans_utc if at > _FIRST]
    return tuple(at for at in listed if by_zoneinfo(rules, at - 1) != by_zoneinfo(rules, at))


def changes(zone: Zone, start: int, end: int) -> list[tuple[int, Type]]:
    """The local time of a zone at a second, and each other one before the end."""
    listed = [(start, zone.state(start))]
    for at in zone.between(start, end):
        if zone.state(at) != listed[-1][1]:
            listed.append((at, zone.state(at)))
    return listed
