"""The date of the data that a file states itself: in its metadata, its first lines or its times.

It is the date of the source unless the recipe states one. Names of files do not count: people
rename files.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from email.utils import parsedate

from geolookup_builder.sources.reading.inputs import Member

#: Returns the date that a member states, in ISO 8601; None if it states none.
StatedDate = Callable[[Member], str | None]
_START_BYTES = 1 << 16
#: An earlier date is a field that was never set, such as a build time of 0.
_EARLIEST = dt.date(1990, 1, 1)
#: How far the clock of the maker of a file, or its time zone, may be ahead.
CLOCKS_DIFFER = dt.timedelta(days=1)
_DAY = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?![0-9])")
_SECONDS = re.compile(r"[0-9]{9,10}")


def in_first_lines(pattern: str) -> StatedDate:
    """Return a function that reads the date in the group of ``pattern``, in the first 64 KiB."""
    compiled = re.compile(pattern.encode())

    def date_of(member: Member) -> str | None:
        with member.open() as stream:
            match = compiled.search(stream.read(_START_BYTES))
        return date_in(match[1].decode("ascii", "replace").strip()) if match else None

    return date_of


def date_in(text: str) -> str | None:
    """Return the day of a text: ISO 8601, ``20261120``, Unix seconds, or as in an e-mail."""
    if _SECONDS.fullmatch(text):
        return of_seconds(int(text))
    match = _DAY.match(text)
    # "Mon, 01 Jan 2024 00:00:00 GMT" and "Thu Sep 10 23:59:49 UTC 2026", in any locale.
    parts = match.groups() if match else (parsedate(text) or ())[:3]
    with suppress(ValueError):
        return _day(dt.date(*map(int, parts))) if parts else None
    return None


def of_seconds(seconds: int) -> str | None:
    """Return the day of Unix seconds, in UTC."""
    with suppress(OverflowError, ValueError, OSError):
        return _day(dt.datetime.fromtimestamp(seconds, dt.UTC).date())
    return None


def _day(date: dt.date) -> str | None:
    """Return a day in ISO 8601; None for one that is too early, or in the future.

    A source from the future would never be too old for ``max_age``.
    """
    latest = dt.datetime.now(dt.UTC).date() + CLOCKS_DIFFER
    return date.isoformat() if _EARLIEST <= date <= latest else None


def oldest(members: Iterable[Member], stated_date: StatedDate) -> str | None:
    """Return the oldest date of the members; None if one of them has no date."""
    dates = [stated_date(member) for member in members]
    known = [date for date in dates if date is not None]
    return min(known) if known and len(known) == len(dates) else None
