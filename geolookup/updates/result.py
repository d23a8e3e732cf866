"""The result of an update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["updated", "current", "withdrawn", "recent", "planned"]


@dataclass(frozen=True, slots=True)
class Updated:
    """What happened, and the current generation of the store, if any.

    ``state``: "updated", "current" (nothing changed), "withdrawn" (a rollback withdrew what the
    sources, the archive or the mirror give), "recent" (``if_older``) or "planned" (``dry_run``).
    """

    state: State
    store: str
    generation: str | None
    removed: tuple[str, ...] = ()  # generations that were pruned
    warnings: tuple[str, ...] = ()  # what failed after the publication, a line each
