"""From a path to its current dataset: the current generation of a store, or the dataset itself.

Strategy: every change replaces one file, the pointer or the manifest, so its stat is the
fingerprint of the path. A dataset was read consistently if the fingerprint is the same before
and after the read.
"""

from __future__ import annotations

import os

from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, DatasetError, short_id
from geolookup.store import pointer
from geolookup.store.paths import dataset_path

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from geolookup.store.requirements import Requirements

    Fingerprint = tuple[int, int, int, int] | None
    T = TypeVar("T")

#: How often changing files are read.
_ATTEMPTS = 3


def fingerprint(path: str) -> Fingerprint:
    """Return a value that changes when the dataset of a path changes; None without a dataset."""
    # A store has CURRENT, a dataset MANIFEST; a folder with both counts as a store.
    for name in (pointer.CURRENT, fmt.MANIFEST):
        if seen := file_fingerprint(os.path.join(path, name)):
            return seen
    return None


def file_fingerprint(path: str | os.PathLike[str]) -> Fingerprint:
    """Return a value that changes when a file is written or replaced; None without a file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: not a path at all
        return None
    # A rename brings another inode; times and size differ if the file system reuses inodes.
    # `touch -r` and `rsync --inplace -t` set mtime, but no program can set ctime.
    return status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size


def retry_if_changed(read: Callable[[], T], fingerprint_of: Callable[[], object]) -> T:
    """Return the result of ``read``; retry if it fails and the fingerprint changes meanwhile.

    Raises the BuildError or DatasetError of the last attempt.
    """
    for _ in range(_ATTEMPTS - 1):
        seen = fingerprint_of()
        try:
            return read()
        except (BuildError, DatasetError):
            if fingerprint_of() == seen:
                raise
    return read()


def folder(path: str | os.PathLike[str] | None) -> str:
    """Return the folder of a path's current dataset; DatasetError for a damaged pointer.

    ``path`` is what ``geolookup.open`` accepts.
    """
    path = dataset_path(path)
    current = pointer.current_of(path)
    return path if current is None else pointer.folder_of(path, current)


def generation(path: str) -> str:
    """Return the current generation of a path; DatasetError without one."""
    return pointer.current_of(path) or read_manifest(path).generation


def open_dataset(
    path: str, check: Callable[[Dataset], None] | None = None, *, fallback: bool = False
) -> Dataset:
    """Open the current dataset of a path, if it passes ``check``.

    ``fallback``: if the current generation of a store does not open, open the last one
    before it that does. If the path changes meanwhile, retry with the new dataset: the old
    one may be pruned, or replaced while it was read. Raises DatasetError.
    """
    while True:
        # seen -> read -> same fingerprint: nothing changed meanwhile. Also for errors: the
        # generation may be pruned after the pointer was read.
        seen = fingerprint(path)
        try:
            published = pointer.not_withdrawn(pointer.read(path))
            dataset = (_last_that_opens if fallback else _current)(path, published)
            if check is not None:
                check(dataset)
        except DatasetError:
            if fingerprint(path) == seen:
                raise
        else:
            if fingerprint(path) == seen:
                return dataset


class DatasetPath:
    """A path of a dataset or store, as an engine opens it and reloads from it."""

    def __init__(self, path: str, requirements: Requirements) -> None:
        self.path, self._requirements = path, requirements

    @property
    def identity(self) -> str:
        """A text that no other location has."""
        return self.path

    def fingerprint(self) -> object:
        """Return a value that changes when the dataset of the path changes."""
        return fingerprint(self.path)

    def generation(self) -> str:
        """Return the current generation; DatasetError without one."""
        return generation(self.path)

    def open_checked(self, check: Callable[[Dataset], None], *, fallback: bool = False) -> Dataset:
        """Open the current dataset, if it passes ``check``."""
        return open_dataset(self.path, check, fallback=fallback)

    def open_dataset(self, *, fallback: bool = False) -> Dataset:
        """Open the current dataset, if it meets the requirements."""
        return self.open_checked(self._requirements.check_opened, fallback=fallback)

    def open_successor(self, old: Dataset) -> Dataset:
        """Open the current dataset, verified, if it may replace the old one."""
        check = self._requirements.check_replacement
        return open_dataset(self.path, lambda new: check(old, new))

    def open_generation(self, generation: str, serial: int) -> Dataset:
        """Open one generation, signed no earlier than ``serial``."""
        check = self._requirements.signature_check(serial)
        if pointer.read(self.path):
            from geolookup.history.unpacked import open_unpacked

            return open_unpacked(self.path, generation, check)
        return checked_generation(self.path, open_dataset(self.path, check), generation)


def checked_generation(path: str, dataset: Dataset, generation: str) -> Dataset:
    """Return the dataset of a path; DatasetError if it is not the generation that was pickled."""
    if dataset.generation != generation:
        actual, pickled = map(short_id, (dataset.generation, generation))
        problem = f"generation {actual} where {pickled} was pickled"
        raise DatasetError(path, problem, "pickle again")
    return dataset


def _current(path: str, published: list[pointer.Publication]) -> Dataset:
    return _open_in_store(path, published[-1].generation) if published else Dataset(path)


def _open_in_store(path: str, generation: str) -> Dataset:
    """Open a generation of a store; DatasetError for a folder that states another id."""
    dataset = Dataset(pointer.folder_of(path, generation))
    actual = dataset.manifest.generation
    if actual != generation:
        problem = f"its generation is {short_id(actual)}, but {short_id(generation)} was published"
        raise DatasetError(dataset.path, problem, "publish it again")
    return dataset


def _last_that_opens(path: str, published: list[pointer.Publication]) -> Dataset:
    """Open a path's current dataset, or the last generation before it that opens."""
    try:
        return _current(path, published)
    except DatasetError as error:
        for before in reversed(published[:-1]):
            try:
                dataset = _open_in_store(path, before.generation)
            except DatasetError:
                continue
            _warn_of_fallback(error, before.generation)
            return dataset
        raise


def _warn_of_fallback(error: DatasetError, generation: str) -> None:
    from logging import getLogger

    text = "%s; answering from generation %s, published before it"
    getLogger("geolookup").warning(text, error, short_id(generation))
