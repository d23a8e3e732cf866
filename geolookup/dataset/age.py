"""How old data are, by the dates that their sources state.

Which date counts: the oldest among the sources that decide anything, because an answer may
come from any of them. A source without a date is passed over, which is how data that do
not age (a hand-kept list of one's own offices) are marked. Where no source is dated the age
is unknown, and too old for whoever sets a limit.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass

_LIMIT = re.compile(r"(\d+)([dw]?)", re.ASCII)
_DAYS = {"": 1, "d": 1, "w": 7}


@dataclass(frozen=True, slots=True)
class Age:
    """The age of a dataset's data; all None where no deciding source has a date."""

    days: int | None  # since ``date``, in UTC
    date: str | None  # of the oldest deciding source, ISO 8601
    source: str | None  # its name
    undated: tuple[str, ...]  # deciding sources without a date, which are passed over

    def exceeds(self, limit: dt.timedelta) -> bool:
        """Return whether the data are older than this, or of unknown age."""
        return self.days is None or dt.timedelta(days=self.days) > limit

    def __str__(self) -> str:
        if self.days is None:
            return "unknown, for no source states a date"
        return f"{self.days} day{'s' * (self.days != 1)} ({self.source}, {self.date})"


def of(sources: Iterable[tuple[str, str | None]], today: dt.date | None = None) -> Age:
    """Return the age of what these sources decide, each given by its name and date."""
    today = today or dt.datetime.now(dt.UTC).date()
    dated: list[tuple[dt.date, str, str]] = []
    undated: list[str] = []
    for name, text in sources:
        date = _date(text)
        if text is None or date is None:
            undated.append(name)
        else:
            dated.append((date, name, text))
    if not dated:
        return Age(None, None, None, tuple(undated))
    date, name, text = min(dated)
    return Age((today - date).days, text, name, tuple(undated))


def _date(text: str | None) -> dt.date | None:
    """Return the day of an ISO 8601 date or instant; a month's is its first, others have none."""
    day = (text or "")[:10]
    try:
        return dt.date.fromisoformat(f"{day}-01" if len(day) == 7 else day)
    except ValueError:
        return None


def limit(max_age: dt.timedelta | float | str) -> dt.timedelta:
    """Return a limit given as a timedelta, in days, or as a text: "30d", "4w".

    Raises ValueError for another text and for what is not above 0, TypeError for another type.
    """
    if isinstance(max_age, str):
        found = _LIMIT.fullmatch(max_age)
        if not found:
            raise ValueError(f"max_age is {max_age!r}; write days or weeks, as 30d or 4w")
        max_age = int(found[1]) * _DAYS[found[2]]
    span = max_age if isinstance(max_age, dt.timedelta) else dt.timedelta(days=max_age)
    if span <= dt.timedelta(0):
        raise ValueError("max_age must be above 0")
    return span
