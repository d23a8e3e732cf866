"""Which generation of a store was in force at an instant, and how one is put into the past.

A generation is in force from the time when it became current until another one did. The pointer
records each change, so rollbacks count too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, date, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.contract.localtime import instant
from geolookup.errors import DatasetError
from geolookup.store import pointer
from geolookup.store.pointer import Change, Publication, entry_now, not_withdrawn

if TYPE_CHECKING:
    import os

#: An instant of the past: a text of ISO 8601 (a date, or a date and time with offset), a date, an
#: aware datetime or a Unix time. A date is its first instant in UTC.
AsOf = str | date | datetime | int | float
EXAMPLE = "write a date such as 2026-03-01, or 2026-03-01T09:30Z"


class Period(NamedTuple):
    """The time in which a generation was in force: Unix seconds, ``end`` exclusive, None: now."""

    generation: str
    begin: int
    end: int | None


def periods(store: str | os.PathLike[str]) -> list[Period]:
    """Return the periods of a store, the oldest first, without gaps.

    The generation of a period can be pruned. Raises DatasetError without a store, and for a
    damaged pointer.
    """
    changes = pointer.read_changes(store)
    if not changes:
        problem = "not a store: only a store keeps the generations of the past"
        raise DatasetError(store, problem, "name a store made by 'geolookup update' or 'publish'")
    try:
        begins = [int(read_timestamp(change.since).timestamp()) for change in changes]
    except ValueError as error:
        path = Path(store, pointer.CURRENT)
        raise DatasetError(path, f"in_force: {error}", "restore it") from None
    ends = [*begins[1:], None]
    return [
        Period(change.generation, begin, end)
        for change, begin, end in zip(changes, begins, ends, strict=True)
    ]


def generation_at(store: str | os.PathLike[str], as_of: AsOf) -> str:
    """Return the generation that was in force at an instant.

    Raises DatasetError without a store, and for an instant before the first period; the errors of
    ``read_instant`` for an invalid instant.
    """
    second, all_periods = read_instant(as_of), periods(store)
    number = bisect_right([period.begin for period in all_periods], second) - 1
    if number < 0:
        since = timestamp(all_periods[0].begin)
        problem = f"no generation was in force at that time; the first is in force since {since}"
        raise DatasetError(store, problem, "name a later date, or 'geolookup publish --since DATE'")
    return all_periods[number].generation


def read_instant(as_of: AsOf, name: str = "as_of") -> int:
    """Return the Unix second of an instant; ValueError or TypeError for an invalid one.

    ``name`` is the argument that errors of type and range name.
    """
    if isinstance(as_of, str):
        as_of = _read_text(as_of)
    if isinstance(as_of, date) and not isinstance(as_of, datetime):
        as_of = datetime(as_of.year, as_of.month, as_of.day, tzinfo=UTC)
    return instant(as_of, name)


def _read_text(text: str) -> date | datetime:
    try:
        return date.fromisoformat(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an instant; {EXAMPLE}") from None
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC; {EXAMPLE}")
    return moment


def read_since(since: AsOf) -> str:
    """Return an instant of the past as ``timestamp`` writes it.

    Raises ValueError for an instant in the future, and the errors of ``read_instant``.
    """
    try:
        text = timestamp(read_instant(since, "since"))
    except (OverflowError, OSError):
        raise ValueError(f"{since!r} is not an instant; {EXAMPLE}") from None
    if text > timestamp():
        raise ValueError(f"{text} is in the future; name a date of the past")
    return text


def is_current_since(changes: Sequence[Change], since: str) -> bool:
    """Return whether a generation in force since then would be the current one."""
    return not changes or since >= changes[-1].since


def with_past(
    published: Sequence[Publication], changes: Sequence[Change], generation: str, since: str
) -> tuple[list[Publication], list[Change]]:
    """Return publications and changes with a generation that was in force since then.

    It is in force until the next change, and replaces a change of that instant. An entry that it
    has already stays where it is.
    """
    entries = list(published)
    if generation not in {entry.generation for entry in entries}:
        entries.insert(_position(entries, since), entry_now(generation, since))
    before = [change for change in changes if change.since < since]
    after = [change for change in changes if change.since > since]
    in_order = [*before, Change(generation, since), *after]
    # A since January, A since March: one change.
    return entries, [next(same) for _, same in groupby(in_order, lambda change: change.generation)]


def _position(published: Sequence[Publication], since: str) -> int:
    """Return the position by time, before the current one: that must stay the last."""
    current = not_withdrawn(published)[-1]
    later = (entry.since > since or entry is current for entry in published)
    return next(number for number, is_later in enumerate(later) if is_later)
