"""TZif files (RFC 9636): written ones, those of the deciding database, and another choice of it."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.internals.contract import (
    DAY,
    EARLIEST,
    LATEST,
    database,
    tzdatabase,
    zone_file,
    zone_names,
)
from tests.internals.kernel import python_zones

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = sorted(zone_names())
#: The days around which calendars go wrong: leap years, centuries without a leap day, the ends.
_DAYS = (
    *("0001-01-02", "0001-03-01", "0004-02-29", "0100-02-28", "0100-03-01", "0400-02-29"),
    *("1582-10-15", "1899-12-31", "1900-02-28", "1900-03-01", "1904-02-29", "1969-12-31"),
    *("1970-01-01", "1972-02-29", "1999-12-31", "2000-02-28", "2000-02-29", "2000-03-01"),
    *("2000-12-31", "2024-02-29", "2024-12-31", "2100-02-28", "2100-03-01", "2100-12-31"),
    *("2400-02-29", "4000-02-29", "9996-02-29", "9999-02-28", "9999-03-01", "9999-12-30"),
)
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


def unix(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(seconds=1)


def tzif(zone: str) -> bytes:
    file = zone_file(zone)
    assert file is not None, zone
    return file.data


@contextmanager
def choosing(*folders: Path | str, wanted: str = "", package: bool = True) -> Iterator[str]:
    """The folders are the search path. Yield the choice as text."""
    caches = [
        item
        for module in (tzdatabase, python_zones)
        for item in vars(module).values()
        if hasattr(item, "cache_clear")
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tzdatabase, "search_path", lambda: tuple(map(str, folders)))
        patch.setenv("GEOLOOKUP_TZ", wanted)
        if not package:
            patch.setitem(sys.modules, "tzdata", None)
        for cache in caches:
            cache.cache_clear()
        yield str(database())
    for cache in caches:
        cache.cache_clear()


#: Instants at and around the days, as Unix seconds.
CALENDAR = sorted(
    at
    for day in _DAYS
    for step in (-1, 0, 1, 43_200, DAY - 1, DAY)
    if EARLIEST <= (at := unix(f"{day}T00:00Z") + step) < LATEST
)
