"""Updates from an archive of ``pack``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.history.publishing import publish
from geolookup.progress import Progress
from geolookup.store import pointer
from geolookup.updates.in_store import State, Target, UpdateResult, current_of, result_of
from geolookup.updates.sources import Tell


@dataclass(frozen=True, slots=True)
class FromArchive:
    """An update by a file of ``pack``: ``plan`` reports it, ``perform`` does it."""

    archive: Path
    target: Target

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self._head().manifest.metadata().name

    def plan(self, tell: Tell) -> UpdateResult:
        """Report the steps of an update; the store does not change."""
        self.target.check()
        store = self.target.store
        generation, current = self._head().manifest.generation, current_of(store)
        if generation == current:
            tell(f"generation {generation} is current in {store}")
        else:
            tell(f"would publish generation {generation} into {store}")
        return UpdateResult("planned", str(store), current)

    def perform(self, progress: Progress, tell: Tell) -> UpdateResult:
        """Publish the archive, unless a rollback withdrew its generation, and prune."""
        store = self.target.store
        before, generation = current_of(store), self._head().manifest.generation
        if generation in _withdrawn(store):
            return UpdateResult("withdrawn", str(store), before)
        self.target.trust()
        with progress.stage("publishing"):
            publish(self.archive, store, expect=generation)
        pruned = self.target.prune()
        state: State = "current" if generation == before else "updated"
        return result_of(state, store, generation, pruned)

    def _head(self) -> Head:
        with open_archive(self.archive) as (head, _):
            return head


def _withdrawn(store: Path) -> set[str]:
    return {entry.generation for entry in pointer.read(store) if entry.withdrawn}
