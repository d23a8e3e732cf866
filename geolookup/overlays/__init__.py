"""A dataset with an overlay: sources above it, compiled once into the cache.

The overlay is a file of data or a recipe. The result is a dataset like any other, so the same kind
of engine answers from it::

    CACHE/overlays/NAME-IDENTITY/lock     held by the process that compiles
    CACHE/overlays/NAME-IDENTITY/KEY/     a dataset

IDENTITY is a digest of both paths. KEY is a digest of the base's generation, of the overlay and of
the files that its recipe names: a change of any makes another dataset. The last two of each overlay
are kept, and the overlays that were opened last. A dataset that a process has open stays readable.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from geolookup.dataset.files import Dataset
from geolookup.errors import BuildError, DatasetError
from geolookup.filesystem import atomic, open_regular
from geolookup.filesystem.cache_folder import default_folder, latest_first
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.overlays.sources import overlay_files
from geolookup.store import resolve
from geolookup.store.requirements import Requirements

#: Datasets that are kept of one overlay, and overlays.
_KEPT, _KEPT_OVERLAYS = 2, 16
_DIGITS = 32
#: The name of a result whose key is not yet certain, and how often changing files are read.
_STAGED, _ATTEMPTS = "new", 3
_CHUNK = 1 << 20


class Base(Protocol):
    """The location of a dataset below an overlay."""

    path: str

    @property
    def identity(self) -> str:
        """A text that no other location has."""

    def fingerprint(self) -> object:
        """Return a value that changes when the dataset changes."""

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the current dataset, if it passes ``check``."""


class OverlaidPath:
    """A location of a dataset with an overlay: opened as one dataset.

    The base must meet the trusted keys; the overlay needs no signature.
    """

    def __init__(self, base: Base, overlay: str, requirements: Requirements) -> None:
        self.base, self.path, self.overlay = base, base.path, overlay
        self._requirements = requirements
        self._name: str | None = None  # of the base in use, and the serial of its signature
        self._serial = 0

    def fingerprint(self) -> tuple[object, ...]:
        """Return a value that changes when the base, the overlay or a file of it changes."""
        return self.base.fingerprint(), *map(resolve.file_fingerprint, overlay_files(self.overlay))

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
        dataset = self._current()
        for folder in [] if dataset.generation == generation else self._results():
            with suppress(DatasetError):
                cached = Dataset(folder)
                if cached.generation == generation:
                    return cached
        if dataset.generation != generation:
            problem = f"generation {dataset.generation} where {generation} was pickled"
            raise DatasetError(self.path, problem, "pickle again")
        return dataset

    def _current(self, *, fallback: bool = False) -> Dataset:
        """Open the result of the current files; again if they change meanwhile."""
        for _ in range(_ATTEMPTS - 1):
            seen = self.fingerprint()
            try:
                return self._opened(fallback=fallback)
            except (BuildError, DatasetError):
                if self.fingerprint() == seen:
                    raise
        return self._opened(fallback=fallback)

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
        seen = self.fingerprint()
        result = self._folder / self._key(base)
        dataset = _cached(result) or self._compiled(base, result, seen)
        for folder in (result, self._folder):  # the order in which they are pruned
            with suppress(OSError):
                os.utime(folder)
        return dataset

    def _compiled(self, base: Dataset, result: Path, seen: tuple[object, ...]) -> Dataset:
        """Compile a result, if its files have been the same since they were seen."""
        from geolookup.overlays.sources import compile_overlay

        with atomic.output_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with hold_lock(self._folder / "lock"):
                # Another process may have compiled it meanwhile.
                if dataset := _cached(result):
                    return dataset
                staged = self._folder / _STAGED
                compile_overlay(self.overlay, base, staged)
                # The fingerprint: files may have changed, and changed back.
                if self.fingerprint() != seen or self._key(base) != result.name:
                    problem = "changed while it was compiled"
                    raise BuildError(self.overlay, problem, remedy="try again")
                shutil.rmtree(result, ignore_errors=True)  # if it is damaged
                staged.rename(result)
                self._prune(result)
        return Dataset(result)

    def _prune(self, result: Path) -> None:
        """Remove older results, and overlays that were opened before others."""
        others = [path for path in self._results() if path != result]
        for path in others[_KEPT - 1 :]:
            shutil.rmtree(path, ignore_errors=True)
        overlays = [path for path in latest_first(self._folder.parent) if path != self._folder]
        for path in overlays[_KEPT_OVERLAYS - 1 :]:
            with suppress(OSError), hold_lock_if_free(path / "lock") as is_free:
                if is_free:
                    shutil.rmtree(path, ignore_errors=True)

    def _results(self) -> list[Path]:
        return [path for path in latest_first(self._folder) if len(path.name) == _DIGITS]

    @property
    def _folder(self) -> Path:
        identity = hashlib.sha256(os.fsencode(f"{self.base.identity}\0{self.overlay}")).hexdigest()
        name = Path(self.overlay).name[:50] or "overlay"
        return default_folder() / "overlays" / f"{name}-{identity[:16]}"

    def _key(self, base: Dataset) -> str:
        """Return the name of a result: a digest of all that it is made of."""
        digest = hashlib.sha256(base.generation.encode())
        for path in overlay_files(self.overlay):
            digest.update(os.fsencode(f"\0{path.name}\0"))
            digest.update(_digest(path))
        return digest.hexdigest()[:_DIGITS]


def _cached(result: Path) -> Dataset | None:
    try:
        return Dataset(result)
    except DatasetError:
        return None


def _digest(path: Path) -> bytes:
    digest = hashlib.sha256()
    with suppress(OSError), open_regular(path) as file:  # a missing file: the compiler reports it
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.digest()
