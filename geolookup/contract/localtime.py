"""The time object of the contract, and the instants that calls accept.

Strategy: a zone's local year has few periods of constant offset. A kernel finds the period of an
instant in the zone's file (`tzdatabase` selects it); this module makes the time object from it.
The module `datetime` is slow to import: the compiled kernel needs it for other instants than
numbers only.
"""

from __future__ import annotations

import os
import time
from math import floor
from operator import index

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.contract.types import Time

# Unix seconds, first included and last excluded: every offset is below a day, so
# the local time in any zone has a year between 0001 and 9999.
EARLIEST = -62135510400  # 0001-01-02T00:00:00Z
LATEST = 253402214400  # 9999-12-31T00:00:00Z

#: The environment variable that selects the tz database: auto, system or package.
DATABASE_VARIABLE = "GEOLOOKUP_TZ"


class Period:
    """A part of one local calendar year with a constant offset and abbreviation.

    `start` (included) and `end` (excluded) are Unix seconds, `offset` is
    seconds east of UTC rounded to the minute, half away from zero, and
    `utc_offset` the same as "±HH:MM".
    """

    __slots__ = ("abbr", "end", "is_dst", "offset", "start", "utc_offset")

    def __init__(self, start: int, end: int, abbr: str, offset: int, is_dst: bool) -> None:
        # Mean times have seconds: -04:56:02 is -04:56, and +00:00:30 is +00:01.
        minutes = (abs(offset) + 30) // 60
        sign = "-" if minutes and offset < 0 else "+"
        self.start, self.end, self.abbr, self.is_dst = start, end, abbr, is_dst
        self.offset = -60 * minutes if offset < 0 else 60 * minutes
        self.utc_offset = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"


def instant(at: object, name: str = "at") -> int:
    """Return the Unix second that holds `at`: None (now), a number or an aware datetime.

    Integers are anything with `__index__`. TypeError: a bool, a naive datetime,
    any other type. ValueError: NaN, or outside EARLIEST <= at < LATEST (from 0001-01-02 to before
    9999-12-31 in UTC). `name` is the argument that both errors name.
    """
    if at is None:
        return floor(time.time())
    seconds = _seconds(at, name)
    if not EARLIEST <= seconds < LATEST:  # this form rejects NaN
        raise ValueError(f"{name} must be from 0001-01-02 to before 9999-12-31, UTC")
    return floor(seconds)


def _seconds(at: object, name: str) -> int | float:
    if isinstance(at, float):
        return at
    if not isinstance(at, bool) and hasattr(at, "__index__"):
        return index(at)
    from datetime import UTC, datetime, timedelta

    if isinstance(at, datetime):
        if at.utcoffset() is None:
            raise TypeError(f"{name} must be an aware datetime; this one has no time zone")
        return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    raise TypeError(f"{name} must be a Unix time or an aware datetime, not {type(at).__name__}")


def time_object(zone: str | None, local: Period | None, at: int) -> Time:
    """Return the contract's time object for Unix second `at` in a period of a zone.

    `geolookup.kernel.period` returns it. None, of an unknown zone: all members but
    `current_timestamp` are None.
    """
    return {
        "zone": zone if local else None,
        "abbr": local.abbr if local else None,
        "utc_offset": local.utc_offset if local else None,
        "utc_offset_seconds": local.offset if local else None,
        "current_time": _clock(at + local.offset) + local.utc_offset if local else None,
        "current_timestamp": at,
        "is_dst": local.is_dst if local else None,
    }


def _clock(seconds: int) -> str:
    """Return "YYYY-MM-DDTHH:MM:SS" for Unix seconds with the zone's offset added."""
    from datetime import UTC, datetime, timedelta

    clock = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return clock.isoformat()[:19]


def check_database() -> None:
    """Raise SettingsError if ``$GEOLOOKUP_TZ`` is malformed; if it is not set, load nothing."""
    if os.environ.get(DATABASE_VARIABLE):
        from geolookup.contract.tzdatabase import database

        database()
