"""Makes the time object of the contract from a zone name and an instant.

Strategy: a zone's local year is split once into periods of constant offset, by the zone's
transitions (`tzif`). The period that contains the instant gives the answer, so most lookups
need one dictionary access and one format. Caches are bounded and hold immutable values;
readers need no lock. `tzdatabase` selects the tz database; a changed one takes effect after
a restart. The module `datetime` is slow to import; only instants that are not numbers load it.
"""

from __future__ import annotations

import os
import time
from functools import lru_cache
from math import floor
from operator import index

from geolookup.contract.gregorian import DAY, date_text, first_day, year_of

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from geolookup.contract.types import Time
    from geolookup.contract.tzif import Zone
    from geolookup.contract.tzrule import Rule, State

# Unix seconds, first included and last excluded: every offset is below a day, so
# the local time in any zone has a year between 0001 and 9999.
EARLIEST = -62135510400  # 0001-01-02T00:00:00Z
LATEST = 253402214400  # 9999-12-31T00:00:00Z

#: The environment variable that selects the tz database: auto, system or package.
DATABASE_VARIABLE = "GEOLOOKUP_TZ"

LONGEST_KEY = 64  # twice the longest key; bounds the caches
_TWO_DIGITS = tuple(f"{number:02d}" for number in range(60))


class Period:
    """A part of one local calendar year with a constant offset and abbreviation.

    `start` (included) and `end` (excluded) are Unix seconds, `offset` is
    seconds east of UTC rounded to the minute, half away from zero, and
    `utc_offset` the same as "±HH:MM".
    """

    __slots__ = ("abbr", "end", "is_dst", "offset", "start", "utc_offset")

    def __init__(
        self, start: int, end: int, abbr: str, offset: int, is_dst: bool, utc_offset: str
    ) -> None:
        self.start, self.end, self.abbr = start, end, abbr
        self.offset, self.is_dst, self.utc_offset = offset, is_dst, utc_offset


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


def time_object(zone: str | None, at: int) -> Time:
    """Return the contract's time object for Unix second `at` (EARLIEST <= at < LATEST).

    If the zone is None or unknown to the tz database, all members but
    `current_timestamp` are None.
    """
    local = None if zone is None else period(zone, at)
    return {
        "zone": zone if local else None,
        "abbr": local.abbr if local else None,
        "utc_offset": local.utc_offset if local else None,
        "utc_offset_seconds": local.offset if local else None,
        "current_time": local_time_text(at + local.offset) + local.utc_offset if local else None,
        "current_timestamp": at,
        "is_dst": local.is_dst if local else None,
    }


def time_json(zone: str | None, at: int) -> bytes:
    """Return `time_object` as compact JSON in UTF-8; same arguments."""
    local = None if zone is None else period(zone, at)
    if local is None:
        return (
            '{"zone":null,"abbr":null,"utc_offset":null,"utc_offset_seconds":null,'
            f'"current_time":null,"current_timestamp":{at},"is_dst":null}}'
        ).encode()
    # Nothing to escape: keys and abbreviations are ASCII letters, digits, "+-_/".
    return (
        f'{{"zone":"{zone}","abbr":"{local.abbr}","utc_offset":"{local.utc_offset}",'
        f'"utc_offset_seconds":{local.offset},'
        f'"current_time":"{local_time_text(at + local.offset)}{local.utc_offset}",'
        f'"current_timestamp":{at},"is_dst":{"true" if local.is_dst else "false"}}}'
    ).encode()


def local_time_text(seconds_local: int) -> str:
    """Return "YYYY-MM-DDTHH:MM:SS" for Unix seconds with the zone's offset added.

    The year must be from 1 to 9999.
    """
    return _minute_text(seconds_local // 60) + _TWO_DIGITS[seconds_local % 60]


@lru_cache(maxsize=256)  # several minutes, in all offsets of the tz database
def _minute_text(minutes_local: int) -> str:
    hours, minute = divmod(minutes_local, 60)
    day, hour = divmod(hours, 24)
    return f"{date_text(day)}T{_TWO_DIGITS[hour]}:{_TWO_DIGITS[minute]}:"


# The last used period of each zone: the next lookup usually needs it. Bounded by the
# number of keys; periods are immutable and replaced as a whole, so engines can share it.
_recent: dict[str, Period] = {}


def period(zone: str, at: int) -> Period | None:
    """Return the period of `zone` that holds Unix second `at` (EARLIEST <= at < LATEST).

    None if the tz database does not have the key; keys are case-sensitive. No text raises an error.
    """
    local = _recent.get(zone)
    if local is not None and local.start <= at < local.end:
        return local
    rules = _rules(zone) if 0 < len(zone) <= LONGEST_KEY else None
    if rules is None:
        return None
    try:
        periods = periods_around(rules, at)
    except ValueError:  # the file of the zone is malformed
        return None
    _recent[zone] = local = next(part for part in periods if part.start <= at < part.end)
    return local


def periods_around(rules: Zone, at: int) -> tuple[Period, ...]:
    """Return the periods of the local year of a Unix second."""
    offset, *_ = rules.state(at)
    # The local year: 2026-12-31 23:30 UTC is in 2027 at +01:00.
    year = year_of((at + offset) // DAY)
    # One day more on each side covers the local year in every zone.
    start, end = (first_day(year) - 1) * DAY, (first_day(year + 1) + 1) * DAY
    return _year(rules.since(start), year, max(EARLIEST, start), min(LATEST, end))


@lru_cache(maxsize=1024)  # more than all keys of the tz database
def _rules(zone: str) -> Zone | None:
    """Load a zone from the tz database; None for an unknown key."""
    rules, _ = _readers()
    return rules(zone)


@lru_cache(maxsize=1024)  # a changed database takes effect after a restart
def zone_file(zone: str) -> bytes | None:
    """Return the TZif file of a zone, as `tzdatabase` selects it; None for an unknown key."""
    _, file = _readers()
    return file(zone)


@lru_cache(maxsize=1)
def _readers() -> tuple[Callable[[str], Zone | None], Callable[[str], bytes | None]]:
    # Not at module level: opening a dataset needs no zone. An import in a function takes 1 us.
    from geolookup.contract.tzdatabase import file, rules

    return rules, file


def check_database() -> None:
    """Raise SettingsError if ``$GEOLOOKUP_TZ`` is malformed; if it is not set, load nothing."""
    if os.environ.get(DATABASE_VARIABLE):
        from geolookup.contract.tzdatabase import database

        database()


class _Run:
    """Unix seconds [start, end) of one state of a zone in a local year."""

    __slots__ = ("abbr", "end", "marked", "offset", "start")

    def __init__(self, start: int, end: int, offset: int, marked: bool, abbr: str) -> None:
        self.start, self.end = start, end
        self.offset, self.marked, self.abbr = offset, marked, abbr


@lru_cache(maxsize=2048)  # about three years of every zone
def _year(rules: Zone | Rule, year: int, start: int, end: int) -> tuple[Period, ...]:
    """Return the periods of a local year; `start` and `end` are before and after it."""
    runs = list(_runs(rules, year, start, end))
    return tuple(_period(run, _is_dst(run, runs)) for run in runs)


def _runs(rules: Zone | Rule, year: int, start: int, end: int) -> Iterator[_Run]:
    first, after = first_day(year) * DAY, first_day(year + 1) * DAY
    # start        first                           after       end
    # |-- 1 day ---|---------- local year ----------|-- 1 day --|      begin .. stop: one clock
    changes = _changes(rules, start, end)
    ends = [begin for begin, _ in changes[1:]] + [end]
    for (begin, state), stop in zip(changes, ends, strict=True):
        # A local year begins where its clock does; clocks that are put back begin it twice.
        offset, *_ = state
        begin, stop = max(begin, first - offset), min(stop, after - offset)
        if begin < stop:
            yield _Run(begin, stop, *state)


def _changes(rules: Zone | Rule, start: int, end: int) -> list[tuple[int, State]]:
    """Return the state at `start` and each other one before `end`, with their seconds."""
    changes = [(start, rules.state(start))]
    for second in rules.between(start, end):
        state = rules.state(second)
        if state != changes[-1][1]:
            changes.append((second, state))
    return changes


def _is_dst(run: _Run, runs: list[_Run]) -> bool:
    """Return whether the run is daylight saving: its clocks are ahead of standard time.

    The database marks some winters as daylight saving, with a negative saving (Dublin,
    Casablanca): a marked run that is behind the nearest runs without a mark. A run without a
    mark is daylight saving if the nearest marked runs have a negative saving. The mark itself
    decides if there is no such run, or if the nearest runs disagree. A change of the standard
    offset in that year is not daylight saving.
    """
    others = [other for other in _nearest(run, runs) if other.offset != run.offset]
    if run.marked:
        verdicts = {run.offset > other.offset for other in others}
    else:
        verdicts = {not _is_dst(other, runs) for other in others}
    return verdicts.pop() if len(verdicts) == 1 else run.marked


def _nearest(run: _Run, runs: list[_Run]) -> list[_Run]:
    """Return the nearest run of the other mark, or the two that are equally near."""
    others = [other for other in runs if other.marked != run.marked]
    gaps = [max(other.start - run.end, run.start - other.end) for other in others]
    return [other for other, gap in zip(others, gaps, strict=True) if gap == min(gaps)]


def _period(run: _Run, is_dst: bool) -> Period:
    # Mean times have seconds: -04:56:02 is -04:56, and +00:00:30 is +00:01.
    minutes = (abs(run.offset) + 30) // 60
    sign = "-" if minutes and run.offset < 0 else "+"
    utc_offset = f"{sign}{_TWO_DIGITS[minutes // 60]}:{_TWO_DIGITS[minutes % 60]}"
    offset = minutes * (-60 if sign == "-" else 60)
    return Period(run.start, run.end, run.abbr, offset, is_dst, utc_offset)
