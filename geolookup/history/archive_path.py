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

from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError
from geolookup.filesystem import opener
from geolookup.filesystem.cache import entries_folder, open_cached
from geolookup.history.unpacked import size_and_time, unpack_entry
from geolookup.store.cached import open_entry
from geolookup.store.resolve import (
    DatasetPath,
    checked_generation,
    file_fingerprint,
    retry_if_changed,
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from geolookup.overlays import CompiledPath
    from geolookup.store.requirements import Requirements

_DIGITS = 32
#: The first bytes of a frame (RFC 8878, 3.1.1).
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


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
        return checked_generation(self.path, self._unpacked(serial), generation)

    def _unpacked(self, serial: int = 0) -> Dataset:
        """Open the dataset in the cache; again if the archive changes meanwhile."""
        return retry_if_changed(partial(self._entry, serial), self.fingerprint)

    @property
    def is_unpacked(self) -> bool:
        """Whether the cache has its dataset, damaged or not."""
        return (entries_folder() / self._name()).is_dir()

    def _name(self) -> str:
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:_DIGITS]
        try:
            return f"archive-{digest}-{size_and_time(Path(self.path).stat())}"
        except OSError as error:
            problem = f"cannot be read ({error.strerror or error})"
            raise DatasetError(self.path, problem, "name an archive of 'geolookup pack'") from error

    def _entry(self, serial: int) -> Dataset:
        check = self._requirements.signature_check(serial)

        def make(folder: Path) -> None:
            from geolookup.archives.head import open_archive

            with open_archive(Path(self.path)) as (head, members):
                unpack_entry(head, members, check, folder)

        return open_cached(self._name(), partial(open_entry, check=check), make)


def of_file(path: str, requirements: Requirements) -> ArchivePath | CompiledPath:
    """Return the location of a file: an archive, or data or a recipe to compile.

    To look into an archive imports Arrow: not for data, nor for an archive that was unpacked.
    """
    if _may_be_archive(path):
        from geolookup.archives.head import is_archive

        location = ArchivePath(path, requirements)
        if location.is_unpacked or is_archive(path):
            return location
    from geolookup.overlays import CompiledPath

    return CompiledPath(path, requirements)


def _may_be_archive(path: str) -> bool:
    """Return whether a file is compressed as archives are."""
    try:
        with open(path, "rb", opener=opener) as file:
            return file.read(len(_ZSTANDARD)) == _ZSTANDARD
    except OSError:
        return False
