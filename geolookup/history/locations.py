"""What an engine opens beside a dataset or a store: an archive, a past generation, a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from geolookup.archives.head import is_archive, open_archive
from geolookup.dataset.files import Dataset
from geolookup.filesystem import opener
from geolookup.filesystem.cache import entries_folder
from geolookup.history.archived import cache_name, open_in_cache, unpacked
from geolookup.kernel import State
from geolookup.overlays import CompiledPath
from geolookup.store import pointer, resolve
from geolookup.store.in_force import generation_at, periods
from geolookup.store.requirements import Requirements

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.store.in_force import AsOf
    from geolookup.tables.generations import Generations

#: The first bytes of a frame (RFC 8878, 3.1.1).
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class ArchivePath(resolve.DatasetPath):
    """An archive of ``pack``, and the dataset in it."""

    def fingerprint(self) -> object:
        """Return a value that changes when the archive is replaced."""
        return resolve.file_fingerprint(self.path)

    def generation(self) -> str:
        """Return the id of the dataset, unpacked if it is new."""
        return self._unpacked().generation

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the dataset, if it passes ``check``; ``fallback`` has no effect."""
        del fallback
        dataset = self._unpacked()
        check(dataset)
        return dataset

    def open_generation(self, generation: str, serial: int) -> Dataset:
        """Open one generation, signed no earlier than ``serial``."""
        return resolve.checked_generation(self.path, self._unpacked(serial), generation)

    def _unpacked(self, serial: int = 0) -> Dataset:
        """Open the dataset in the cache; again if the archive changes meanwhile."""
        check = self._requirements.signature_check(serial)
        opened = partial(open_archive, Path(self.path))
        read = partial(open_in_cache, self.path, opened, check)
        return resolve.retry_if_changed(read, self.fingerprint)


def of_file(path: str, requirements: Requirements) -> ArchivePath | CompiledPath:
    """Return the location of a file: an archive, or data or a recipe to compile.

    To look into an archive imports Arrow: not for data, nor for an archive that was unpacked.
    """
    if _is_compressed(path) and (
        (entries_folder() / cache_name(path)).is_dir() or is_archive(path)
    ):
        return ArchivePath(path, requirements)
    return CompiledPath(path, requirements)


def _is_compressed(path: str) -> bool:
    """Return whether a file is compressed as archives are."""
    try:
        with open(path, "rb", opener=opener) as file:
            return file.read(len(_ZSTANDARD)) == _ZSTANDARD
    except OSError:
        return False


class PastPath(resolve.DatasetPath):
    """A store, and the generation that was in force at the instant of the requirements.

    The generation is fixed: no change of the store needs a reload.
    """

    def __init__(self, path: str, generation: str, requirements: Requirements) -> None:
        super().__init__(path, requirements)
        self._generation = generation

    @property
    def identity(self) -> str:
        """A text that no other location has."""
        return f"{self.path}\0{self._generation}"

    def fingerprint(self) -> object:
        """Return a constant: the dataset does not change."""
        return self._generation

    def generation(self) -> str:
        """Return the generation that was in force at the instant."""
        return self._generation

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the generation, unpacked if it is an archive, if it passes ``check``.

        ``fallback`` has no effect: no other generation answers for the instant.
        """
        del fallback
        dataset = self.open_generation(self._generation, 0)
        check(dataset)
        return dataset


def folder_at(store: str, as_of: AsOf) -> Path:
    """Return the folder of the generation of a store that was in force at an instant.

    Raises DatasetError for a path that is not a store, for an instant before its first generation,
    and as ``unpacked``; ValueError or TypeError for an invalid instant.
    """
    return unpacked(store, generation_at(store, as_of))


def generations_of(
    store: str, state: State, overlay: str | None, requirements: Requirements
) -> Generations:
    """Return the generations of a store for tables with instants; the periods are read now.

    ``state`` is an open generation: it is not opened again. ``overlay`` stands above each
    generation. Raises DatasetError for a path that is not a store.
    """
    from geolookup.tables.generations import Generations

    of_store = periods(store)
    # Of each generation the last time: an overlay is compiled once.
    begin_of = {period.generation: period.begin for period in of_store}
    kept = {name for name in begin_of if pointer.is_kept(store, name)}

    def open_generation(generation: str) -> State:
        if generation == state.dataset.generation:
            return state
        keys = Requirements(trusted_keys=requirements.keys or None)
        past = PastPath(store, generation, keys.as_of(begin_of[generation]))
        if overlay is None:
            return State(past.open_dataset())
        return State(CompiledPath(overlay, keys.as_of(begin_of[generation]), past).open_dataset())

    return Generations(
        store,
        [period.begin for period in of_store],
        [period.generation if period.generation in kept else None for period in of_store],
        open_generation,
    )
