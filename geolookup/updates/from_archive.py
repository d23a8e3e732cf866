"""An update from an archive of ``pack``: its dataset becomes the current generation of a store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.archives.publish import publish
from geolookup.errors import OutputError
from geolookup.progress import Progress
from geolookup.store import pointer
from geolookup.store.generations import prune
from geolookup.updates.place import check_place, current_of, make_data_folder
from geolookup.updates.result import State, Updated
from geolookup.updates.sources import Tell


@dataclass(frozen=True, slots=True)
class FromArchive:
    """An update by a file of ``pack``; ``planned`` and ``performed`` answer it."""

    archive: Path
    store: Path

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self._head().manifest.metadata().name

    def planned(self, tell: Tell) -> Updated:
        """Tell what an update would do; the store stays as it is."""
        check_place(self.store)
        generation, current = self._head().manifest.generation, current_of(self.store)
        if generation == current:
            tell(f"generation {generation} is current in {self.store}")
        else:
            tell(f"would publish generation {generation} into {self.store}")
        return Updated("planned", str(self.store), current)

    def performed(self, progress: Progress, tell: Tell) -> Updated:
        """Publish the archive, unless a rollback withdrew its generation, and prune."""
        head, before = self._head(), current_of(self.store)
        generation = head.manifest.generation
        if generation in _withdrawn(self.store):
            return Updated("withdrawn", str(self.store), before)
        make_data_folder(self.store)
        with progress.stage("publishing"):
            publish(self.archive, self.store, expect=generation)
        removed, warnings = self._pruned()
        state: State = "current" if generation == before else "updated"
        return Updated(state, str(self.store), generation, removed, warnings)

    def _head(self) -> Head:
        with open_archive(self.archive) as (head, _):
            return head

    def _pruned(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the removed generations, and what failed: the store is up to date by now."""
        try:
            return tuple(prune(self.store)), ()
        except OutputError as error:
            return (), (f"old generations are not all removed: {error}",)


def _withdrawn(store: Path) -> set[str]:
    return {each.generation for each in pointer.read(store) if each.withdrawn}
