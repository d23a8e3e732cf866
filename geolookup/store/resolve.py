"""From a path to its current dataset: the current generation of a store, or the dataset itself.

Strategy: every change replaces one file, the pointer or the manifest, so its stat is the
fingerprint of the path. A dataset was read consistently if the fingerprint is the same before
and after the read.
"""

from __future__ import annotations

import os
from functools import partial

from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.errors import BuildError, DatasetError, short_id
from geolookup.store import pointer
from geolookup.store.paths import dataset_path

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import TypeVar

    from geolookup.store.requirements import Requirements

    Fingerprint = tuple[int, int, int, int] | None
    T = TypeVar("T")

#: How often a read may fail while its files change: one that changes all the time is an error.
_ATTEMPTS = 10


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
    """Return the result of ``read``; retry if the fingerprint changes meanwhile.

    Then the result may be of two states, and an error of a generation that was pruned after the
    pointer was read. Raises the BuildError or DatasetError of the last attempt.
    """
    failures = 0
    while True:
        seen = fingerprint_of()
        try:
            result = read()
        except (BuildError, DatasetError):
            failures += 1
            if failures == _ATTEMPTS or fingerprint_of() == seen:
                raise
        else:
            if fingerprint_of() == seen:
                return result


def folder(path: str | os.PathLike[str] | None) -> str:
    """Return the folder of a path's current dataset; DatasetError for a damaged pointer.

    ``path`` is what ``geolookup.open`` accepts.
    """
    path = dataset_path(path)
    current = pointer.read(path).current
    return path if current is None else pointer.folder_of(path, current)


def _open_current(path: str, *, fallback: bool) -> Dataset:
    newest_first = [entry.generation for entry in pointer.read(path).not_withdrawn[::-1]]
    if not newest_first:
        return Dataset(path)
    try:
        return open_folder(path, newest_first[0])
    except DatasetError as error:
        for before in newest_first[1:] if fallback else ():
            try:
                dataset = open_folder(path, before)
            except DatasetError:
                continue
            from logging import getLogger

            text = "%s; answering from generation %s, published before it"
            getLogger("geolookup").warning(text, error, short_id(before))
            return dataset
        raise


def open_folder(store: str | os.PathLike[str], generation: str) -> Dataset:
    """Open the folder of a generation; DatasetError if it states another id."""
    dataset = Dataset(pointer.folder_of(store, generation))
    if dataset.generation != generation:
        actual, expected = map(short_id, (dataset.generation, generation))
        problem = f"its generation is {actual}, but {expected} was published"
        raise DatasetError(dataset.path, problem, "publish it again")
    return dataset


def open_entry(
    folder: Path, check: Callable[[Dataset], None] | None, generation: str | None = None
) -> Dataset | None:
    """Open a dataset in the cache; None if it is missing or damaged: it must be made again.

    With a check, as with trusted keys, also None if it does not pass or if another user can change
    it: what answers is what was checked. With ``generation``, also None if it is another one. All
    files are mapped: the cache may evict them. Raises OutputError if others can change the cache
    itself.
    """
    from geolookup.filesystem.cache import is_safe

    if check is not None and not is_safe(folder):
        return None
    try:
        dataset = Dataset(folder)
        dataset.map_all()
        if check is not None:
            check(dataset)
    except DatasetError:
        return None
    return dataset if generation in (None, dataset.generation) else None


class DatasetPath:
    """A path as an engine opens it and reloads from it: a dataset, a store or an archive.

    Or, with ``past``, a generation of a store that was in force at the instant of the requirements:
    no change of the store needs a reload.
    """

    overlay = None

    def __init__(self, path: str, requirements: Requirements, past: str | None = None) -> None:
        self.path, self._requirements, self._past = path, requirements, past

    @property
    def identity(self) -> str:
        """A text that no other location has."""
        return self.path if self._past is None else f"{self.path}\0{self._past}"

    def fingerprint(self) -> object:
        """Return a value that changes when the dataset of the path changes."""
        return self._past or fingerprint(self.path) or file_fingerprint(self.path)

    def generation(self) -> str:
        """Return the current generation; DatasetError without one."""
        return self._past or pointer.read(self.path).current or self.open_checked(None).generation

    def open_checked(
        self, check: Callable[[Dataset], None] | None, *, fallback: bool = False
    ) -> Dataset:
        """Open the current dataset, if it passes ``check``; DatasetError if it does not.

        ``fallback``: if the current generation of a store does not open, open the last one
        before it that does. It has no effect on an archive and on the past.
        """

        def read() -> Dataset:
            dataset = self._open(fallback=fallback)
            if check is not None:
                check(dataset)
            return dataset

        return retry_if_changed(read, self.fingerprint)

    def _open(self, *, fallback: bool) -> Dataset:
        if self._past is None and not os.path.isfile(self.path):
            return _open_current(self.path, fallback=fallback)
        from geolookup.history.archived import open_archive_file, open_unpacked

        check = self._requirements.signature_check()
        if self._past is None:
            return open_archive_file(self.path, check)
        return open_unpacked(self.path, self._past, check)

    def open_dataset(self, *, fallback: bool = False) -> Dataset:
        """Open the current dataset, if it meets the requirements."""
        return self.open_checked(self._requirements.check_opened, fallback=fallback)

    def open_successor(self, old: Dataset) -> Dataset:
        """Open the current dataset, verified, if it may replace the old one."""
        return self.open_checked(partial(self._requirements.check_replacement, old))

    def open_generation(self, generation: str, serial: int) -> Dataset:
        """Open one generation, signed no earlier than ``serial``."""
        check = self._requirements.signature_check(serial)
        if pointer.read(self.path).published:
            from geolookup.history.archived import open_unpacked

            return open_unpacked(self.path, generation, check)
        return checked_generation(self.path, self.open_checked(check), generation)


def checked_generation(path: str, dataset: Dataset, generation: str) -> Dataset:
    """Return the dataset of a path; DatasetError if it is not the generation that was pickled."""
    if dataset.generation != generation:
        actual, pickled = map(short_id, (dataset.generation, generation))
        problem = f"generation {actual} where {pickled} was pickled"
        raise DatasetError(path, problem, "pickle again")
    return dataset
