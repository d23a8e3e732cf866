"""What a follower is asked to do, and what came of one poll."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.store import pointer


@dataclass(frozen=True, slots=True)
class Request:
    """A mirror's address, the store that follows it, and how.

    ``keep`` is how many generations stay, at least 2; ``budget`` the highest rate of a download
    in bytes a second, None for any.
    """

    url: str
    store: Path
    keep: int = 2
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Polled:
    """What one poll did.

    ``state`` is one of ``status.RESULTS`` but "failed": "current" (the store has what the mirror
    has), "updated", or "held" (a rollback or a publication here stands until the mirror publishes
    again). ``generation`` is current in the store. ``kind`` says from what it was installed:
    "stored" (the store had it), "delta" or "pack", of so many ``bytes``; empty if it was not.
    The other members are those of the index, as ``status.Status`` has them.
    """

    state: str
    generation: str
    bytes: int = 0
    kind: str = ""
    serial: int = 0
    expires_at: str = ""
    followed: str = ""


def current_in(store: Path) -> str:
    """Return the current generation of a store; an empty text if it has none, or lost its files."""
    standing = pointer.standing(pointer.read(store))
    if not standing or not Path(pointer.folder_of(store, standing[-1].generation)).is_dir():
        return ""
    return standing[-1].generation
