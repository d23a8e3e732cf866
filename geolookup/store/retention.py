"""Which generations of a store are kept, and which of these as folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from geolookup.contract.gregorian import timestamp
from geolookup.dataset.metadata import age_limit
from geolookup.store.pointer import KEEP, KEEP_UNPACKED, Change, Publication, not_withdrawn


@dataclass(frozen=True, slots=True)
class Retention:
    """The ``keep`` generations that were published last, or those in force within ``keep_for``.

    With ``keep_for``, the one in force at its begin is kept too, and never fewer than two. ``keep``
    None: all. ``unpacked`` is the number of generations that stay folders; older ones become
    archives.
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

    def kept(
        self, published: Sequence[Publication], changes: Sequence[Change]
    ) -> list[Publication]:
        """Return the generations to keep, in their order; the current one is always one."""
        if self.keep is None:
            return list(published)
        # keep 2 of A B C(withdrawn): B and C are the last two, A and B the last two not withdrawn.
        before_current = min(self.keep, 2)
        kept = {*published[-self.keep :], *not_withdrawn(published)[-before_current:]}
        if self.keep_for is not None:
            names = _in_force_since(changes, _begin(self.keep_for))
            kept |= {entry for entry in published if entry.generation in names}
        return [entry for entry in published if entry in kept]

    def folders(self, kept: Sequence[Publication]) -> set[str]:
        """Return the generations that stay folders: the last ones that are not withdrawn."""
        return {entry.generation for entry in not_withdrawn(kept)[-self.unpacked :]}


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
        return timestamp(datetime.now(UTC) - span)
    except OverflowError:  # before the year 1
        return ""


def _in_force_since(changes: Sequence[Change], begin: str) -> set[str]:
    """Return the generations in force at ``begin`` or later; times are in UTC, of one length."""
    # A since January, B since March, C since May: from April on, B and C.
    ends = (change.since for change in changes[1:])
    return {
        change.generation
        for change, end in zip_longest(changes, ends)
        if end is None or end > begin
    }
