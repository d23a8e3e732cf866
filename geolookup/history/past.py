"""A generation that is put into the past of a store: its entry, and its change of ``in_force``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby

from geolookup.contract.gregorian import timestamp
from geolookup.store.in_force import EXAMPLE, AsOf, read_instant
from geolookup.store.pointer import Change, Publication, entry_now, not_withdrawn


def read_since(since: AsOf) -> str:
    """Return an instant of the past as ``timestamp`` writes it.

    Raises ValueError for an instant in the future, and the errors of ``read_instant``.
    """
    try:
        text = timestamp(datetime.fromtimestamp(read_instant(since, "since"), UTC))
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
