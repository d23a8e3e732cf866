"""The period of a time zone by `zoneinfo`, for the Python kernel.

`zoneinfo` answers for an instant but does not list the changes of a zone. They are found by
sampling a local year every few days: a change between two samples is bisected.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from importlib import import_module
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from zoneinfo import ZoneInfo

from geolookup.contract.gregorian import DAY, first_day
from geolookup.contract.localtime import EARLIEST, LATEST, Period
from geolookup.contract.tzdatabase import zone_file
from geolookup.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds between samples. In the tz database a state that is left and resumed lasts at least
#: 6.9 days (Brazil in 2000, Gaza from 2040 on).
_STEP = 6 * DAY
_ABBREVIATION = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-0123456789")
#: What `zoneinfo` raises for damaged bytes, at once or for some instants.
_DAMAGED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error)


class _State(NamedTuple):
    """The clock of a zone: seconds east of UTC, the mark of daylight saving, the abbreviation."""

    offset: int
    marked: bool
    abbr: str


class _Run(NamedTuple):
    """Unix seconds [start, end) of one state in a local year."""

    start: int
    end: int
    state: _State


def period(zone: str | None, second: int) -> Period | None:
    """Return the period of a zone that holds a Unix second (EARLIEST <= second < LATEST).

    None if the zone is None or the tz database does not have it. Raises DatasetError for a damaged
    file.
    """
    file = zone_file(zone) if zone else None
    if zone is None or file is None:
        return None
    utc = _utc(second)
    try:
        periods = _periods(zone, _local(_rules(zone), utc).year)
        return next(period for period in periods if period.start <= second < period.end)
    except (*_DAMAGED, StopIteration):
        remedy = "install the time zones again, or choose others by GEOLOOKUP_TZ"
        raise DatasetError(file.path, "a damaged file of a time zone", remedy) from None


@lru_cache(maxsize=1024)  # more than all keys of the tz database
def _rules(zone: str) -> ZoneInfo:
    file = zone_file(zone)
    if file is None or not _is_whole(file.data):
        raise ValueError("a truncated file")
    # The class in Python goes first, and raises for damaged bytes: the one in C, which answers ten
    # times faster, can read outside its memory for these.
    rules: ZoneInfo = import_module("zoneinfo._zoneinfo").ZoneInfo.from_file(BytesIO(file.data))
    with suppress(ValueError):  # CPython 3.11.2 refuses hours of three digits in C
        return ZoneInfo.from_file(BytesIO(file.data))
    return rules


def _is_whole(data: bytes, begin: int = 0, width: int = 4) -> bool:
    """Return whether a file has all its blocks and the end of its footer (RFC 9636, section 3).

    Without them `zoneinfo` reads on for minutes or for ever. ``begin`` is the first byte of a
    header, ``width`` the bytes of a time.
    """
    ut, standard, leaps, times, types, characters = struct.unpack_from(">6L", data, begin + 20)
    size = times * (width + 1) + types * 6 + characters + leaps * (width + 4) + standard + ut
    end: int = begin + 44 + size
    if not data[4]:  # version 1: 32-bit times, no footer
        return end <= len(data)
    # Later versions: header | 32-bit block | header | 64-bit block | "\n" TZ string "\n"
    if width == 4:
        return _is_whole(data, end, 8)
    return data[end : end + 1] == b"\n" and b"\n" in data[end + 1 :]


def _utc(second: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)


def _local(rules: ZoneInfo, utc: datetime) -> datetime:
    local = utc.astimezone(rules)
    # In the hour after the last change of a table that puts clocks back, `zoneinfo` returns the
    # right local time without its fold: Metlakatla on 2019-01-20 from 1:00:01 on.
    return local.replace(fold=1) if local - utc else local


@lru_cache(maxsize=2048)  # about three years of every zone
def _periods(zone: str, year: int) -> tuple[Period, ...]:
    """Return the periods of a local year."""
    runs = list(_runs(_rules(zone), year))
    return tuple(
        Period(run.start, run.end, run.state.abbr, run.state.offset, _is_dst(run, runs))
        for run in runs
    )


def _runs(rules: ZoneInfo, year: int) -> Iterator[_Run]:
    # One day more on each side covers the local year in every zone.
    # start        first                           after       end
    # |-- 1 day ---|---------- local year ----------|-- 1 day --|      begin .. stop: one clock
    first, after = first_day(year) * DAY, first_day(year + 1) * DAY
    start, end = max(EARLIEST, first - DAY), min(LATEST, after + DAY)
    begins = [start, *_changes(rules, start, end)]
    for begin, stop in pairwise([*begins, end]):
        state = _state(rules, begin)
        # A local year begins where its clock does; clocks that are put back begin it twice.
        begin, stop = max(begin, first - state.offset), min(stop, after - state.offset)
        if begin < stop:
            yield _Run(begin, stop, state)


def _changes(rules: ZoneInfo, start: int, end: int) -> Iterator[int]:
    """Yield the seconds after `start` and before `end` at which another state begins."""
    low, state = start, _state(rules, start)
    for high in [*range(start, end - 1, _STEP), end - 1]:
        latest = _state(rules, high)
        while state != latest:
            differs = partial(_differs, rules, state)
            low += 1 + bisect_left(range(low + 1, high), True, key=differs)
            state = _state(rules, low)
            yield low
        low = high


def _differs(rules: ZoneInfo, state: _State, second: int) -> bool:
    return _state(rules, second) != state


def _state(rules: ZoneInfo, second: int) -> _State:
    local = _local(rules, _utc(second))
    offset, abbr = local.utcoffset() or timedelta(), local.tzname() or ""
    if not _ABBREVIATION.issuperset(abbr):  # it would have to be escaped in JSON
        raise ValueError("an abbreviation with other characters than RFC 9636 allows")
    return _State(offset // timedelta(seconds=1), bool(local.dst()), abbr)


def _is_dst(run: _Run, runs: list[_Run]) -> bool:
    """Return whether the run is daylight saving: its clocks are ahead of standard time.

    The database marks some winters as daylight saving, with a negative saving (Dublin,
    Casablanca): a marked run that is behind the nearest runs without a mark. A run without a
    mark is daylight saving if the nearest marked runs have a negative saving. The mark itself
    decides if there is no such run, or if the nearest runs disagree. A change of the standard
    offset in that year is not daylight saving.
    """
    offset, marked, _ = run.state
    others = [other for other in _nearest(run, runs) if other.state.offset != offset]
    if marked:
        verdicts = {offset > other.state.offset for other in others}
    else:
        verdicts = {not _is_dst(other, runs) for other in others}
    return verdicts.pop() if len(verdicts) == 1 else marked


def _nearest(run: _Run, runs: list[_Run]) -> list[_Run]:
    """Return the nearest run of the other mark, or the two that are equally near."""
    others = [other for other in runs if other.state.marked != run.state.marked]
    gaps = [max(other.start - run.end, run.start - other.end) for other in others]
    return [other for other, gap in zip(others, gaps, strict=True) if gap == min(gaps)]
