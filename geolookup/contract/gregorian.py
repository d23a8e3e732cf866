"""Days of the Gregorian calendar as numbers, day 0 is 1970-01-01; and timestamps as texts.

The module `datetime` computes the same, but importing it costs a cold start 2 ms.
"""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from datetime import datetime

DAY = 86400  # seconds

#: Days of a common year before each month, and after the last.
_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365)
# One day more before March and all later months.
_BEFORE_IN_LEAP_YEARS = tuple(days + (month >= 2) for month, days in enumerate(_BEFORE))


def is_leap(year: int) -> bool:
    """Return whether a year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def first_day(year: int) -> int:
    """Return 1 January of a year."""
    past = year - 1
    # 719,162 days from 0001-01-01 to 1970-01-01.
    return past * 365 + past // 4 - past // 100 + past // 400 - 719_162


def first_of_month(year: int, month: int) -> int:
    """Return the first day of a month, 1 to 12; 13 is January of the next year."""
    return first_day(year) + _days_before(year)[month - 1]


def year_of(day: int) -> int:
    """Return the year that a day lies in."""
    year = (day + 719_162) * 400 // 146_097 + 1  # a cycle of 400 years; off by one at most
    if day < first_day(year):
        return year - 1
    return year + (day >= first_day(year + 1))


def date_text(day: int) -> str:
    """Return "YYYY-MM-DD" for a day of the years 1 to 9999."""
    year = year_of(day)
    days, of_year = _days_before(year), day - first_day(year)
    # Day 58 of a common year: 59 days are before March, so month 2, and 58 - 31 + 1 = 28.
    month = bisect_right(days, of_year)
    return f"{year:04d}-{month:02d}-{of_year - days[month - 1] + 1:02d}"


def _days_before(year: int) -> tuple[int, ...]:
    return _BEFORE_IN_LEAP_YEARS if is_leap(year) else _BEFORE


def timestamp(at: datetime | int | None = None) -> str:
    """Return an instant or Unix second, by default the present, as files and commands state it.

    That is RFC 3339 in UTC, to the second: "2026-11-25T23:03:41Z".
    """
    from datetime import UTC, datetime

    if isinstance(at, int):
        at = datetime.fromtimestamp(at, UTC)
    instant = datetime.now(UTC) if at is None else at.astimezone(UTC)
    return f"{instant.replace(microsecond=0, tzinfo=None).isoformat()}Z"


def read_timestamp(text: str) -> datetime:
    """Return the instant of a text that ``timestamp`` wrote; ValueError for any other text."""
    from datetime import datetime

    instant = datetime.fromisoformat(text)
    if timestamp(instant) != text:
        raise ValueError(f"{text!r} is not a timestamp")
    return instant
