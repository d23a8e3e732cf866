"""Which generations a store has."""

from __future__ import annotations

import os
from dataclasses import dataclass

from geolookup.errors import DatasetError
from geolookup.store import pointer


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a store."""

    generation: str
    at: str  # when it was last published, ISO 8601 in UTC
    current: bool  # whether it answers
    withdrawn: bool  # whether a rollback led away from it


def generations(store: str | os.PathLike[str]) -> list[Generation]:
    """Return the generations of a store, the last published first.

    Each has ``generation`` (its id, 64 hexadecimal digits), ``at`` (when it was last published,
    ISO 8601 in UTC), ``current`` and ``withdrawn``. Raises DatasetError if there is no store.
    """
    published = pointer.read(store)
    if not published:
        raise DatasetError(store, "no store here", "name a folder made by 'geolookup publish'")
    current = pointer.standing(published)[-1]
    return [
        Generation(each.generation, each.at, each is current, each.withdrawn)
        for each in reversed(published)
    ]
