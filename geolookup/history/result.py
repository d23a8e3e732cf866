"""What a call did to a store: one form for publications, updates, rollbacks and prunes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geolookup.dataset.manifest import Manifest
from geolookup.dataset.metadata import Metadata
from geolookup.errors import DatasetError, count_text
from geolookup.history.archived import manifest_of
from geolookup.store import pointer

#: The digits of a generation that are shown to a person.
DIGITS = 12


@dataclass(slots=True)
class Done:
    """What was done on the way to a result: seconds by step, generations, failures."""

    seconds: dict[str, float] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    archived: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    expected_bytes: int | None = None
    counts: dict[str, int] = field(default_factory=dict)
    gates: list[Mapping[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(time.monotonic() - began, 3)


@dataclass(frozen=True, slots=True)
class StoreResult:
    """What a call did to a store, or would do (``planned``).

    ``generation`` is the one that was published or is current, ``current`` whether it is; ``name``,
    ``data_date`` and ``bytes`` are of it. ``removed`` and ``archived`` are the older generations
    that were removed, or became archives. ``counts`` are of its intervals and rows, and of an
    update's rejected rows. ``warnings`` are failures after the publication. ``expected_bytes`` is
    what the generations of ``keep_for`` will take, if they come as often as until now.
    """

    #: "published", "unchanged", "past", "rolled back", "pruned", "held", "recent" or "planned"
    state: str
    store: str
    generation: str | None
    current: bool
    name: str | None
    data_date: str | None
    bytes: int | None
    counts: Mapping[str, int]
    gates: Sequence[Mapping[str, Any]]
    removed: Sequence[str]
    archived: Sequence[str]
    warnings: Sequence[str]
    expected_bytes: int | None
    seconds: Mapping[str, float]

    def line(self) -> str:
        """Return the result in one line."""
        about = [self.name or "no dataset"]
        if self.data_date is not None:
            about.append(f"data of {self.data_date}")
        if self.generation is not None:
            about.append(f"generation {self.generation[:DIGITS]}")
        if self.bytes is not None:
            about.append(f"{self.bytes:,} bytes")
        parts = [f"{self.state}: {', '.join(about)} in {self.store}"]
        parts += [
            f"{count_text(len(names), 'generation')} {word}"
            for names, word in ((self.removed, "removed"), (self.archived, "archived"))
            if names
        ]
        if self.expected_bytes is not None:
            parts.append(f"keep_for will take about {self.expected_bytes:,} bytes")
        return "; ".join(parts)


def result_of(
    state: str,
    store: Path,
    generation: str | None,
    done: Done | None = None,
    manifest: Manifest | None = None,
) -> StoreResult:
    """Return the result of a call; ``manifest`` is of a generation that is not in the store."""
    done = done or Done()
    metadata = _metadata(store, generation, manifest)
    return StoreResult(
        state,
        str(store),
        generation,
        generation is not None and generation == current_of(store),
        metadata.name if metadata else None,
        metadata.age.date if metadata else None,
        metadata.bytes if metadata else None,
        {**(metadata.counts if metadata else {}), **done.counts},
        done.gates,
        done.removed,
        done.archived,
        done.warnings,
        done.expected_bytes,
        done.seconds,
    )


def current_of(store: Path) -> str | None:
    """Return the current generation of a store; None if it has none."""
    not_withdrawn = pointer.not_withdrawn(pointer.read(store))
    return not_withdrawn[-1].generation if not_withdrawn else None


def _metadata(store: Path, generation: str | None, manifest: Manifest | None) -> Metadata | None:
    """Return the metadata of a generation; None if it is damaged."""
    if generation is None:
        return None
    try:
        return (manifest or manifest_of(store, generation)).metadata()
    except DatasetError:
        return None
