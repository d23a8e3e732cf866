"""A dataset with an overlay: sources above it, compiled once into the cache.

The overlay is a file of data or a recipe. The result is a dataset like any other, so the same kind
of engine answers from it::

    CACHE/datasets/overlay-IDENTITY-KEY/    a dataset

IDENTITY is a digest of both paths and of the trusted keys: a result of an unsigned base never
answers where keys are demanded. KEY is a digest of the base's generation, of the overlay and of the
files that its recipe names: a change of any makes another dataset.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path

from geolookup.dataset.checksums import check_digests
from geolookup.dataset.files import Dataset
from geolookup.errors import BuildError, DatasetError, short_id
from geolookup.filesystem import atomic, opener
from geolookup.filesystem.cache import entries_folder, open_cached
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.overlays.sources import compile_overlay, overlay_files
from geolookup.store.cached import open_entry
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import DatasetPath, file_fingerprint, retry_if_changed

_DIGITS = 32


class OverlaidPath:
    """A location of a dataset with an overlay: opened as one dataset.

    The base must meet the trusted keys; the overlay needs no signature.
    """

    def __init__(self, base: DatasetPath, overlay: str, requirements: Requirements) -> None:
        self.base, self.path, self.overlay = base, base.path, overlay
        self._requirements = requirements
        self._name: str | None = None  # of the base in use, and the serial of its signature
        self._serial = 0

    def fingerprint(self) -> tuple[object, ...]:
        """Return a value that changes when the base, the overlay or a file of it changes."""
        return self.base.fingerprint(), *map(file_fingerprint, overlay_files(self.overlay))

    def generation(self) -> str:
        """Return the id of the current dataset with the overlay, compiled if it is new."""
        return self._current().generation

    def open_dataset(self, *, fallback: bool = False) -> Dataset:
        """Open the current base with the overlay; BuildError, OutputError or DatasetError."""
        dataset = self._current(fallback=fallback)
        self._requirements.check(dataset)
        return dataset

    def open_successor(self, old: Dataset) -> Dataset:
        """Open the current base with the overlay, verified, if it may replace the old dataset."""
        dataset = self._current()
        self._requirements.without_keys().check_replacement(old, dataset)
        return dataset

    def open_generation(self, generation: str, serial: int) -> Dataset:
        """Open one result; DatasetError if neither the cache nor the current files give it."""
        self._serial = serial
        current = self._current()
        folders = entries_folder().glob(f"{self._prefix}*")  # of former files too
        cached = map(self._open_entry, folders)
        for dataset in chain([current], filter(None, cached)):
            if dataset.generation == generation:
                return dataset
        problem = (
            f"generation {short_id(current.generation)} where {short_id(generation)} was pickled"
        )
        raise DatasetError(self.path, problem, "pickle again")

    def _current(self, *, fallback: bool = False) -> Dataset:
        """Open the result of the current files; again if they change meanwhile."""
        return retry_if_changed(partial(self._opened, fallback=fallback), self.fingerprint)

    def _opened(self, *, fallback: bool) -> Dataset:
        base = self.base.open_checked(self._check_base, fallback=fallback)
        dataset = self._result(base)
        dataset.serial = base.serial
        return dataset

    def _check_base(self, base: Dataset) -> None:
        self._requirements.check_signed(base, self._name, self._serial)
        if base.serial:
            self._name, self._serial = base.manifest.metadata().name, base.serial

    def _result(self, base: Dataset) -> Dataset:
        """Return the dataset of a base with the overlay, from the cache if that has it."""
        make = partial(self._compile, base, self.fingerprint())
        return open_cached(self._name_of(base), self._open_entry, make)

    def _open_entry(self, folder: Path) -> Dataset | None:
        return open_entry(folder, check_digests if self._requirements.keys else None)

    def _compile(self, base: Dataset, seen: tuple[object, ...], folder: Path) -> None:
        """Compile a result, if its files have been the same since they were seen."""
        with atomic.staged_folder(folder, FOLDER_MODE) as fresh:
            compile_overlay(self.overlay, base, fresh / "dataset")
            # The fingerprint: files may have changed, and changed back.
            if self.fingerprint() != seen or self._name_of(base) != folder.name:
                problem = "changed while it was compiled"
                raise BuildError(self.overlay, problem, remedy="try again")
            for path in list((fresh / "dataset").iterdir()):
                path.rename(fresh / path.name)
            (fresh / "dataset").rmdir()

    @property
    def _prefix(self) -> str:
        """The begin of the names of all results of these paths and keys."""
        keys = sorted(key.id for key in self._requirements.keys)
        identity = "\0".join((self.base.identity, self.overlay, *keys))
        return f"overlay-{hashlib.sha256(os.fsencode(identity)).hexdigest()[:_DIGITS]}-"

    def _name_of(self, base: Dataset) -> str:
        """Return the name of a result: its end is a digest of all that it is made of."""
        digest = hashlib.sha256(base.generation.encode())
        for path in overlay_files(self.overlay):
            digest.update(os.fsencode(f"\0{path.name}\0"))
            digest.update(_digest(path))
        return self._prefix + digest.hexdigest()[:_DIGITS]


def _digest(path: Path) -> bytes:
    with suppress(OSError, ValueError), open(path, "rb", opener=opener) as file:
        return hashlib.file_digest(file, "sha256").digest()
    return b""  # a missing file, or a name with NUL: the compiler reports it
