"""Updates from an archive of ``pack``, and from a mirror: one poll of it, as ``follow`` does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.archives.publish import publish
from geolookup.errors import MirrorError, OutputError, UpdateError
from geolookup.progress import Progress
from geolookup.store import pointer
from geolookup.store.generations import prune
from geolookup.updates.in_store import State, Updated, check_place, current_of, make_data_folder
from geolookup.updates.sources import Tell

#: The state of an update by the result of its poll.
_STATES: dict[str, State] = {"updated": "updated", "current": "current", "held": "withdrawn"}


@dataclass(frozen=True, slots=True)
class FromArchive:
    """An update by a file of ``pack``; ``plan`` and ``perform`` answer it."""

    archive: Path
    store: Path

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self._head().manifest.metadata().name

    def plan(self, tell: Tell) -> Updated:
        """Report the steps of an update; the store does not change."""
        check_place(self.store)
        generation, current = self._head().manifest.generation, current_of(self.store)
        if generation == current:
            tell(f"generation {generation} is current in {self.store}")
        else:
            tell(f"would publish generation {generation} into {self.store}")
        return Updated("planned", str(self.store), current)

    def perform(self, progress: Progress, tell: Tell) -> Updated:
        """Publish the archive, unless a rollback withdrew its generation, and prune."""
        head, before = self._head(), current_of(self.store)
        generation = head.manifest.generation
        if generation in _withdrawn(self.store):
            return Updated("withdrawn", str(self.store), before)
        make_data_folder(self.store)
        with progress.stage("publishing"):
            publish(self.archive, self.store, expect=generation)
        removed, warnings = self._prune()
        state: State = "current" if generation == before else "updated"
        return Updated(state, str(self.store), generation, removed, warnings)

    def _head(self) -> Head:
        with open_archive(self.archive) as (head, _):
            return head

    def _prune(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the removed generations, and what failed: the store is up to date by now."""
        try:
            return tuple(prune(self.store)), ()
        except OutputError as error:
            return (), (f"old generations are not all removed: {error}",)


def _withdrawn(store: Path) -> set[str]:
    return {entry.generation for entry in pointer.read(store) if entry.withdrawn}


@dataclass(frozen=True, slots=True)
class FromMirror:
    """An update by the address of a mirror; ``plan`` and ``perform`` answer it."""

    url: str
    store: Path

    @property
    def name(self) -> str:
        """The name of the dataset, as an update speaks of it."""
        return "the mirror's dataset"

    def plan(self, tell: Tell) -> Updated:
        """Report the steps of an update; no request goes to the mirror."""
        check_place(self.store)
        tell(f"would ask {self.url} for its index, and install what it names into {self.store}")
        return Updated("planned", str(self.store), current_of(self.store))

    def perform(self, progress: Progress, tell: Tell) -> Updated:
        """Poll the mirror; UpdateError if it does not answer."""
        from geolookup.mirrors.follow import poll
        from geolookup.mirrors.source import Source

        make_data_folder(self.store)
        try:
            with progress.stage("asking the mirror"):
                polled = poll(Source(self.url, self.store), tell=tell)
        except MirrorError as error:
            raise UpdateError([str(error)]) from error
        return Updated(_STATES[polled.state], str(self.store), polled.generation)
