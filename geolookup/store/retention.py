"""Which generations of a store are kept: a number of them, or those in force within a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from geolookup.contract.gregorian import timestamp
from geolookup.dataset.metadata import age_limit
from geolookup.store.pointer import KEEP, Change, Publication, not_withdrawn


@dataclass(frozen=True, slots=True)
class Retention:
    """The ``keep`` generations that were published last, or those in force within ``keep_for``.

    With ``keep_for``, the one in force at its begin is kept too, and never fewer than two.
    """

    keep: int = KEEP
    keep_for: timedelta | None = None

    @classmethod
    def of(
        cls,
        keep: int | None = None,
        keep_for: timedelta | float | str | None = None,
        default: Retention | None = None,
    ) -> Retention:
        """Return the retention that one of two options states; the default without both.

        Raises ValueError for both, for a ``keep`` below 1 and a malformed ``keep_for``, TypeError
        for another type.
        """
        if keep is not None and keep_for is not None:
            raise ValueError("keep and keep_for are both given; give one of them")
        if keep_for is not None:
            return cls(keep_for=age_limit(keep_for, "keep_for"))
        if keep is None:
            return default or cls()
        if type(keep) is not int:
            raise TypeError(f"keep is a number of generations, not {type(keep).__name__}")
        if keep < 1:
            raise ValueError(f"keep is {keep}; it is a number of generations, 1 or more")
        return cls(keep)

    @classmethod
    def of_all(cls, published: Sequence[Publication]) -> Retention:
        """Return the retention that removes none of them, and makes deltas of the older ones."""
        return cls(max(len(published), KEEP + 1))

    def kept(
        self, published: Sequence[Publication], changes: Sequence[Change]
    ) -> list[Publication]:
        """Return the generations to keep, in their order; the current one is always one."""
        # keep 2 of A B C(withdrawn): B and C are the last two, A and B the last two not withdrawn.
        before_current = min(self.keep, 2)
        kept = {*published[-self.keep :], *not_withdrawn(published)[-before_current:]}
        if self.keep_for is not None:
            names = _in_force_since(changes, _begin(self.keep_for))
            kept |= {entry for entry in published if entry.generation in names}
        return [entry for entry in published if entry in kept]

    def unpacked(self, kept: Sequence[Publication]) -> list[Publication]:
        """Return the kept generations that stay unpacked; the others are kept as deltas.

        The last two that are not withdrawn, and the last one: nothing follows that.
        """
        if self.keep_for is None and self.keep <= KEEP:
            return list(kept)
        return [entry for entry in kept if entry in {*not_withdrawn(kept)[-2:], kept[-1]}]


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
