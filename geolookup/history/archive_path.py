"""An archive of ``pack`` opened as a dataset: unpacked into the cache once.

::

    CACHE/datasets/archive-PATH-SIZE-TIME/    a dataset

PATH is a digest of the archive's path. SIZE and TIME are its own, as of a generation of the past:
an archive that is written again is unpacked again.
"""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path

from geolookup.archives.head import is_archive, open_archive
from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem.cache import open_cached
from geolookup.history.unpacked import size_and_time, unpack_entry
from geolookup.store.cached import open_entry
from geolookup.store.resolve import DatasetPath, file_fingerprint, retry_if_changed

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.overlays import CompiledPath
    from geolookup.store.requirements import Requirements

_DIGITS = 32


class ArchivePath(DatasetPath):
    """An archive, and the dataset in it."""

    def fingerprint(self) -> object:
        """Return a value that changes when the archive is replaced."""
        return file_fingerprint(self.path)

    def generation(self) -> str:
        """Return the id of the dataset, unpacked if it is new."""
        return self._unpacked().generation

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the dataset, if it passes ``check``; ``fallback`` has no effect."""
        del fallback
        dataset = self._unpacked()
        check(dataset)
        return dataset

    def open_successor(self, old: Dataset) -> Dataset:
        """Open the dataset, verified, if it may replace the old one."""
        return self.open_checked(partial(self._requirements.check_replacement, old))

    def open_generation(self, generation: str, serial: int) -> Dataset:
        """Open one generation, signed no earlier than ``serial``."""
        dataset = self._unpacked(serial)
        if dataset.generation != generation:
            actual, pickled = map(short_id, (dataset.generation, generation))
            problem = f"generation {actual} where {pickled} was pickled"
            raise DatasetError(self.path, problem, "pickle again")
        return dataset

    def _unpacked(self, serial: int = 0) -> Dataset:
        """Open the dataset in the cache; again if the archive changes meanwhile."""
        return retry_if_changed(partial(self._entry, serial), self.fingerprint)

    def _entry(self, serial: int) -> Dataset:
        check = self._requirements.signature_check(serial)
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:_DIGITS]
        try:
            name = f"archive-{digest}-{size_and_time(Path(self.path).stat())}"
        except OSError as error:
            problem = f"cannot be read ({error.strerror or error})"
            raise DatasetError(self.path, problem, "name an archive of 'geolookup pack'") from error

        def make(folder: Path) -> None:
            with open_archive(Path(self.path)) as (head, members):
                unpack_entry(head, members, check, folder)

        return open_cached(name, partial(open_entry, check=check), make)


def of_file(path: str, requirements: Requirements) -> ArchivePath | CompiledPath:
    """Return the location of a file: an archive, or data or a recipe to compile."""
    if is_archive(path):
        return ArchivePath(path, requirements)
    from geolookup.overlays import CompiledPath

    return CompiledPath(path, requirements)
