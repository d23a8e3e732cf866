"""Which generation of a store was in force at an instant, how one gets there, how long it stays.

A generation is in force from the time when it became current until another one did. The pointer
records each change, so rollbacks count too.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import groupby, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.contract.localtime import instant
from geolookup.dataset.metadata import age_limit
from geolookup.errors import DatasetError
from geolookup.store import pointer
from geolookup.store.pointer import KEEP, KEEP_UNPACKED, Change, Pointer, Publication

if TYPE_CHECKING:
    import os

#: An instant of the past: a text of ISO 8601 (a date, or a date and time with offset), a date, an
#: aware datetime or a Unix time. A date is its first instant in UTC.
AsOf = str | date | datetime | int | float
EXAMPLE = "write a date such as 2026-03-01, or 2026-03-01T09:30Z"
#: Characters of 2026-03-01 or 2026-W09-7; the shortest text with a time, 20260301T09, has 11.
_LONGEST_DATE = 10


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
    changes = pointer.read(store).changes
    if not changes:
        problem = "not a store: only a store keeps the generations of the past"
        remedy = "name a store made by 'geolookup update' or 'store publish'"
        raise DatasetError(store, problem, remedy)
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
    begun = [period.generation for period in all_periods if period.begin <= second]
    if not begun:
        since = timestamp(all_periods[0].begin)
        problem = f"no generation was in force at that time; the first is in force since {since}"
        raise DatasetError(
            store, problem, "name a later date, or 'geolookup store publish --since DATE'"
        )
    return begun[-1]


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
    is_date = len(text) <= _LONGEST_DATE
    try:
        moment = date.fromisoformat(text) if is_date else datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not an instant; {EXAMPLE}") from None
    if isinstance(moment, datetime) and moment.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC; {EXAMPLE}")
    return moment


def read_since(since: AsOf) -> str:
    """Return an instant of the past as ``timestamp`` writes it.

    Raises ValueError for an instant in the future, and the errors of ``read_instant``.
    """
    text = timestamp(read_instant(since, "since"))
    if text > timestamp():
        raise ValueError(f"{text} is in the future; name a date of the past")
    return text


def is_past(content: Pointer, since: str | None) -> bool:
    """Return whether a generation in force since then would not be the current one."""
    changes = content.changes
    return since is not None and bool(changes) and since < changes[-1].since


def with_generation(
    store: str | os.PathLike[str],
    generation: str,
    since: str | None,
    withdrawn: Collection[str] = (),
) -> Pointer:
    """Return the pointer of a store with a generation, new or not.

    It is in force until the next change after ``since`` (None: now), and replaces a change of that
    instant. One of the past that has an entry already keeps it. ``withdrawn`` are marked as such.
    """
    content, now = pointer.read(store), timestamp()
    content.withdraw(withdrawn)
    current, begin = content.current, since or now
    if since is None and current == generation:
        return content
    entry = Publication(generation, now, begin)
    others = [other for other in content.published if other.generation != generation]
    if not is_past(content, since):  # a former entry goes, also a withdrawn one
        content.published = [*others, entry]
        content.note_current()
        return content
    if others == content.published:
        # By time, but before the current one: that must stay the last.
        later = (other.since > begin or other.generation == current for other in others)
        others.insert(next(number for number, is_later in enumerate(later) if is_later), entry)
        content.published = others
    before = [change for change in content.changes if change.since < begin]
    after = [change for change in content.changes if change.since > begin]
    in_order = groupby([*before, Change(generation, begin), *after], lambda item: item.generation)
    content.changes = [next(same) for _, same in in_order]  # A since January, A since March: one
    return content


@dataclass(frozen=True, slots=True)
class Retention:
    """The newest ``keep`` generations, or those in force within ``keep_for``.

    One that was put into the past counts by its time in force. With ``keep_for``, the one in force
    at its begin is kept too, and never fewer than two. ``keep`` None: all. ``unpacked`` is the
    number of generations that stay folders; older ones become archives.
    """

    keep: int | None = KEEP
    keep_for: timedelta | None = None
    unpacked: int = KEEP_UNPACKED

    @classmethod
    def of(
        cls,
        keep: int | None = None,
        keep_for: timedelta | float | str | None = None,
        keep_unpacked: int | None = None,
        default: Retention | None = None,
    ) -> Retention:
        """Return the retention that options state; the default without ``keep`` and ``keep_for``.

        Raises ValueError for both of these, for a number below 1 and a malformed ``keep_for``,
        TypeError for another type.
        """
        retention = default or cls()
        if keep is not None and keep_for is not None:
            raise ValueError("keep and keep_for are both given; give one of them")
        if keep_for is not None:
            retention = cls(KEEP, age_limit(keep_for, "keep_for"))
        elif keep is not None:
            retention = cls(_number("keep", keep))
        if keep_unpacked is None:
            return retention
        return replace(retention, unpacked=_number("keep_unpacked", keep_unpacked))

    def kept(self, content: Pointer) -> Pointer:
        """Return a pointer with the generations to keep; the current one is always one."""
        if self.keep is None:
            return content
        published, changes = content.published, content.changes
        # keep 2 of A B C(withdrawn): B and C are the last two, A and B the last two not withdrawn.
        before_current = min(self.keep, 2)
        kept = {*published[-self.keep :], *content.not_withdrawn[-before_current:]}
        if self.keep_for is not None:
            # A since January, B since March, C since May: from April on, B and C.
            begin = _begin(self.keep_for)
            names = {
                change.generation
                for change, after in zip_longest(changes, changes[1:])
                if after is None or after.since > begin  # texts in UTC, of one length
            }
            kept |= {entry for entry in published if entry.generation in names}
        return Pointer([entry for entry in published if entry in kept], changes)

    def folders(self, kept: Pointer) -> set[str]:
        """Return the generations that stay folders: the last ones that are not withdrawn."""
        return {entry.generation for entry in kept.not_withdrawn[-self.unpacked :]}


#: All generations; older ones become archives.
ALL = Retention(keep=None)


def _number(name: str, value: int) -> int:
    if type(value) is not int:
        raise TypeError(f"{name} is a number of generations, not {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} is {value}; it is a number of generations, 1 or more")
    return value


def _begin(span: timedelta) -> str:
    try:
        return timestamp(read_timestamp(timestamp()) - span)
    except OverflowError:  # before the year 1
        return ""
