"""The rule of a time zone after its last transition: the TZ string in the footer of a TZif file.

RFC 9636, section 3.3.1: a TZ string of POSIX, in which the time of a change may be from -167 to
167 hours. Daylight saving from the first to the last second of each year is permanent.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache, partial
from operator import itemgetter

from geolookup.contract.gregorian import DAY, first_day, first_of_month, is_leap, year_of

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    #: The clock of a zone: seconds east of UTC, whether the database marks it as daylight saving,
    #: and the abbreviation.
    State = tuple[int, bool, str]
    #: A day of a year (days since 1970-01-01), and seconds after its midnight.
    Date = tuple[Callable[[int], int], int]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DURATION = "+-0123456789:"
ABBREVIATION = frozenset(_LETTERS + "+-0123456789")
_SHORTEST_NAME = 3
_THURSDAY = 4  # 1970-01-01; Sunday is 0
_LAST_WEEK = 5
_LONGEST_OFFSET, _LONGEST_TIME = 24, 167  # hours


class Rule:
    """One permanent state, or standard time and daylight saving between two dates of each year."""

    __slots__ = ("_dates", "_states")

    def __init__(self, *states: State, dates: tuple[Date, ...] = ()) -> None:
        self._states, self._dates = states, dates

    def state(self, at: int) -> State:
        """Return the state at a Unix second."""
        if not self._dates:
            return self._states[0]
        changes = _changes(self, year_of(at // DAY))
        # The last change that is not after the second.
        return changes[bisect_right(changes, at, key=itemgetter(0)) - 1][1]

    def between(self, start: int, end: int) -> list[int]:
        """Return the seconds of changes after `start` and before `end`, at most two years later."""
        if not self._dates:
            return []
        changes = _changes(self, year_of((start + end) // 2 // DAY))
        return [second for second, _ in changes if start < second < end]

    def changes(self, year: int) -> tuple[tuple[int, State], ...]:
        """Return the changes (Unix second, state) of a year and of the years beside it.

        The first change is before the end of the preceding year.
        """
        (first, last), (standard, daylight) = self._dates, self._states
        years = range(year - 2, year + 3)
        starts = [_second(first, year) - standard[0] for year in years]
        # Each date is by the clock in use before the change: a start by standard time, an end by
        # daylight saving.
        ends = [_second(last, year) - daylight[0] for year in years]
        changes = [(start, daylight) for start in starts[:-1]]
        # An end at or after the next start is not a change: daylight saving is permanent.
        pairs = zip(ends, starts[1:], strict=False)
        changes += [(end, standard) for end, start in pairs if end < start]
        return tuple(sorted(changes, key=lambda change: (change[0], change[1][1])))


@lru_cache(maxsize=1024)  # about three years of every rule
def _changes(rule: Rule, year: int) -> tuple[tuple[int, State], ...]:
    return rule.changes(year)


def _second(date: Date, year: int) -> int:
    day, seconds = date
    return day(year) * DAY + seconds


@lru_cache(maxsize=256)  # more than the tz database has; zones share them
def parse(text: str) -> Rule:
    """Return the rule that a TZ string in ASCII states.

    ValueError for a malformed text, for daylight saving without dates, and for an offset of a
    day or more.
    """
    # "EST5EDT,M3.2.0,M11.1.0": head "EST5EDT", dates "M3.2.0" and "M11.1.0".
    head, *dates = text.split(",")
    name, tail = _name(head)
    daylight = tail.lstrip(_DURATION)
    # POSIX counts west of UTC as positive: EST5 is -05:00.
    standard = _state(-_seconds(tail[: len(tail) - len(daylight)], _LONGEST_OFFSET), False, name)
    if not daylight and not dates:
        return Rule(standard)
    name, tail = _name(daylight)
    ahead = -_seconds(tail, _LONGEST_OFFSET) if tail else standard[0] + 3600
    start, end = dates
    return Rule(standard, _state(ahead, True, name), dates=(_date(start), _date(end)))


def _state(offset: int, marked: bool, name: str) -> State:
    if not -DAY < offset < DAY:
        raise ValueError("an offset of a day or more")
    return offset, marked, name


def _name(text: str) -> tuple[str, str]:
    """Split an abbreviation from the text after it."""
    if text.startswith("<"):
        name, _, tail = text[1:].partition(">")
    else:
        tail = text.lstrip(_LETTERS)
        name = text[: len(text) - len(tail)]
    if len(name) < _SHORTEST_NAME or not ABBREVIATION.issuperset(name):
        raise ValueError("a malformed abbreviation")
    return name, tail


def _seconds(text: str, most: int) -> int:
    """Return the seconds of ``[+-]hours[:minutes[:seconds]]``, at most ``most`` hours."""
    sign, text = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    hours, *parts = [_number(part) for part in text.split(":")]
    # Two values, or a ValueError of the assignment: 1:2:3:4 has three parts.
    minutes, seconds = [*parts, 0, 0][: max(2, len(parts))]
    if hours > most or minutes >= 60 or seconds >= 60:
        raise ValueError("a time out of range")
    return sign * (hours * 3600 + minutes * 60 + seconds)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("not a number")
    return int(text)


def _date(text: str) -> Date:
    """Read ``Mmonth.week.weekday``, ``Jday`` or ``day``; ``/time`` follows unless it is 2:00."""
    day, slash, time = text.partition("/")
    seconds = _seconds(time, _LONGEST_TIME) if slash else 7200
    if day.startswith("M"):
        month, week, weekday = map(_number, day[1:].split("."))
        if not (1 <= month <= 12 and 1 <= week <= _LAST_WEEK and weekday <= 6):
            raise ValueError("a weekday out of range")
        return partial(_weekday, month, week, weekday), seconds
    number = _number(day.removeprefix("J"))
    if number > 365 or (day.startswith("J") and number == 0):
        raise ValueError("a day out of range")
    return partial(_without_leap_day if day.startswith("J") else _with_leap_day, number), seconds


def _weekday(month: int, week: int, weekday: int, year: int) -> int:
    """Return the week-th weekday of a month; the fifth is the last one."""
    first = first_of_month(year, month)
    # Day 0 was a Thursday: the weekday of a day is (day + 4) % 7, Sunday 0. See also
    # ``_second_of`` in the compiled kernel, with an example.
    day = first + (weekday - first - _THURSDAY) % 7 + 7 * (week - 1)
    return day if day < first_of_month(year, month + 1) else day - 7


def _without_leap_day(number: int, year: int) -> int:
    """Return a day from 1; 29 February does not count."""
    # J60 is 1 March in all years.
    return first_day(year) + number - 1 + (is_leap(year) and number >= 60)


def _with_leap_day(number: int, year: int) -> int:
    """Return a day from 0; 29 February counts."""
    return first_day(year) + number
