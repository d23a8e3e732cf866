"""What a call did to a store: one form for publications, updates, rollbacks and prunes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from typing import Any

from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError, count_text, short_id
from geolookup.history.archived import head_of
from geolookup.progress import stage
from geolookup.store import pointer

#: States that need more words in ``line``.
_SAID = {
    "past": "put into the past",
    "rolled back": "rolled back to",
    "pruned": "pruned, current",
}


@dataclass(slots=True)
class StoreResult:
    """What a call did to a store, or would do (``planned``).

    ``generation`` is the one that was published or is current, ``current`` whether it is; ``name``,
    ``data_date`` and ``bytes`` are of it. ``counts`` are of its intervals and rows, and of an
    update's rejected rows; ``gates`` are those of an update's recipe. ``removed`` and ``archived``
    are the older generations that were removed, or became archives. ``warnings`` are failures after
    the publication. ``seconds`` are durations by step.
    """

    store: str
    #: "published", "unchanged", "past", "rolled back", "pruned", "held", "recent", "planned"
    #: or "downloaded"
    state: str = ""
    generation: str | None = None
    current: bool = False
    name: str | None = None
    data_date: str | None = None
    bytes: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    gates: list[Mapping[str, Any]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str, then: str = "") -> Iterator[None]:
        """Show a step while the block runs, and the one that comes ``then``; measure it."""
        began = time.monotonic()
        try:
            with stage(name, then):
                yield
        finally:
            self.seconds[name] = round(time.monotonic() - began, 3)

    def ended(
        self, state: str, generation: str | None = None, manifest: Manifest | None = None
    ) -> StoreResult:
        """Return the result at its end, by default of the current generation.

        ``manifest`` is of a generation outside of the store.
        """
        store = Path(self.store)
        current = pointer.read(store).current
        self.state, self.generation = state, generation or current
        self.current = current is not None and self.generation == current
        try:
            if self.generation is not None:
                manifest = manifest or head_of(store, self.generation).manifest
                metadata = manifest.metadata()
                self.name, self.data_date = metadata.name, metadata.age.date
                self.bytes, self.counts = metadata.bytes, {**metadata.counts, **self.counts}
        except DatasetError:  # it is damaged
            pass
        return self

    def log_warnings(self) -> None:
        """Write the warnings to the log ``geolookup``."""
        for warning in self.warnings:
            getLogger("geolookup").warning("%s", warning)

    def line(self) -> str:
        """Return the result in one line."""
        about = [self.name or "no dataset"]
        if self.data_date is not None:
            about.append(f"data of {self.data_date}")
        if self.generation is not None:
            about.append(f"generation {short_id(self.generation)}")
        if self.bytes is not None:
            about.append(f"{self.bytes:,} bytes")
        state = _SAID.get(self.state, self.state)
        parts = [f"{state}: {', '.join(about)} in {self.store}"]
        parts += [
            f"{count_text(len(names), 'generation')} {word}"
            for names, word in ((self.removed, "removed"), (self.archived, "archived"))
            if names
        ]
        return "; ".join(parts)
