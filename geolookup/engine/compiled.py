"""Datasets that are compiled into the cache when they are opened: a file, or an overlay.

The file is data or a recipe. An overlay is a file whose sources come before a dataset, its base.
The result is a dataset like any other, so the same kind of engine answers from it::

    CACHE/datasets/file-IDENTITY-KEY/       a dataset
    CACHE/datasets/overlay-IDENTITY-KEY/

IDENTITY is a digest of the paths and of the trusted keys: a result of an unsigned base never
answers where keys are demanded. KEY is a digest of the base's generation, and of the fingerprints
of the file and of the files that its recipe names. A change of any makes another dataset.
"""

from __future__ import annotations

import hashlib
import os
from functools import partial
from itertools import chain
from pathlib import Path

from geolookup.dataset.digests import check_digests
from geolookup.dataset.files import Dataset
from geolookup.engine.compiling import compile_file, files_of
from geolookup.errors import BuildError, DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.cache import entries_folder, open_cached
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import (
    DatasetPath,
    checked_generation,
    file_fingerprint,
    open_entry,
    retry_if_changed,
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

_DIGITS = 32


class CompiledPath:
    """A location of a file, or of a dataset with an overlay: opened as one dataset.

    The base must meet the trusted keys; the overlay needs no signature. A file without a base has
    none, and is refused if keys are demanded.
    """

    def __init__(
        self, file: str, requirements: Requirements, base: DatasetPath | CompiledPath | None = None
    ) -> None:
        self.base, self._file, self._requirements = base, file, requirements
        self.path: str = file if base is None else base.path
        self.overlay = None if base is None else file
        self._name: str | None = None  # of the base in use, and the serial of its signature
        self._serial = 0

    @property
    def identity(self) -> str:
        """A text that no other location has."""
        return self._file if self.base is None else f"{self.base.identity}\0{self._file}"

    def fingerprint(self) -> tuple[object, ...]:
        """Return a value that changes when the base, the file or one that it names changes."""
        of_base = None if self.base is None else self.base.fingerprint()
        return of_base, *map(file_fingerprint, files_of(self._file))

    def generation(self) -> str:
        """Return the id of the current result, compiled if it is new."""
        return self._current().generation

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the current result, if it passes ``check``."""
        dataset = self._current(fallback=fallback)
        check(dataset)
        return dataset

    def open_dataset(self, *, fallback: bool = False) -> Dataset:
        """Open the current result; raises BuildError, OutputError or DatasetError."""
        return self.open_checked(self._requirements.check, fallback=fallback)

    def open_successor(self, old: Dataset) -> Dataset:
        """Open the current result, verified, if it may replace the old dataset."""
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
        return checked_generation(self.path, current, generation)

    def _current(self, *, fallback: bool = False) -> Dataset:
        """Open the result of the current files; again if they change meanwhile."""
        return retry_if_changed(partial(self._opened, fallback=fallback), self.fingerprint)

    def _opened(self, *, fallback: bool) -> Dataset:
        if self.base is None:
            if self._requirements.keys:
                problem = "not signed: a file of data has no signature"
                remedy = "build a dataset of it, and sign that"
                raise DatasetError(self._file, problem, remedy)
            return self._result(None)
        base = self.base.open_checked(self._check_base, fallback=fallback)
        dataset = self._result(base)
        dataset.serial = base.serial
        return dataset

    def _check_base(self, base: Dataset) -> None:
        self._requirements.check_signed(base, self._name, self._serial)
        if base.serial:
            self._name, self._serial = base.manifest.metadata().name, base.serial

    def _result(self, base: Dataset | None) -> Dataset:
        """Return the dataset of the file, over a base if there is one; from the cache if it can."""
        _, *files = seen = self.fingerprint()
        key = _digest(repr((base and base.generation, files)))
        return open_cached(self._prefix + key, self._open_entry, partial(self._compile, base, seen))

    def _open_entry(self, folder: Path) -> Dataset | None:
        return open_entry(folder, check_digests if self._requirements.keys else None)

    def _compile(self, base: Dataset | None, seen: tuple[object, ...], folder: Path) -> None:
        """Compile a result, if its files have been the same since they were seen."""
        with atomic.staged_folder(folder, FOLDER_MODE) as fresh:
            compile_file(self._file, base, fresh)
            if self.fingerprint() != seen:
                problem = "changed while it was compiled"
                raise BuildError(self._file, problem, remedy="try again")

    @property
    def _prefix(self) -> str:
        """The prefix of the folder names of all results of these paths and keys."""
        keys = sorted(key.id for key in self._requirements.keys)
        identity = _digest("\0".join((self.identity, *keys)))
        return f"{'file' if self.base is None else 'overlay'}-{identity}-"


def _digest(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]
