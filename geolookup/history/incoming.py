"""Datasets on their way into a store: a folder, an archive, or what the compiler has staged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from geolookup.archives.head import Head, is_archive, open_archive, read_head
from geolookup.archives.members import SUFFIX
from geolookup.archives.unpack import extract
from geolookup.filesystem import atomic
from geolookup.filesystem.copying import copy_file
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.store import resolve


@dataclass(frozen=True, slots=True)
class Incoming:
    """A dataset on its way into a store: its head, and a writer of its files."""

    path: Path  # names it in errors
    head: Head  # its signature is the dataset's own, or a newer one
    #: Writes the files to an empty folder and verifies them, once; DatasetError if it cannot.
    write: Callable[[Path], VerifiedDataset]

    @property
    def generation(self) -> str:
        """The id of the dataset."""
        return self.head.manifest.generation

    def with_signature(self, signature: bytes | None) -> Incoming:
        """Return the dataset with another signature; None: with the present one."""
        return replace(self, head=replace(self.head, signature=signature or self.head.signature))


def open_incoming(dataset: str | os.PathLike[str] | None) -> AbstractContextManager[Incoming]:
    """Return the dataset of a path that ``geolookup.open`` accepts, or of an archive.

    Raises DatasetError for one that is missing or damaged.
    """
    path = None if dataset is None else Path(dataset)
    # By name or first bytes: a damaged archive is reported as an archive, not as a folder.
    if path is not None and path.is_file() and (path.name.endswith(SUFFIX) or is_archive(path)):
        return from_archive(path)
    return nullcontext(from_folder(Path(resolve.folder(dataset))))


@contextmanager
def from_archive(archive: Path) -> Iterator[Incoming]:
    """Yield the dataset of an archive; the file is open for the block."""
    with open_archive(archive) as (head, members):
        yield Incoming(archive, head, partial(extract, head, members))


def from_folder(source: Path) -> Incoming:
    """Return a dataset whose files are copied, then verified: the source may change at any time."""
    head = read_head(source)

    def write(folder: Path) -> VerifiedDataset:
        for name, text in head.texts():
            with create(folder / name) as file:
                file.write(text)
            atomic.fsync(folder / name)
        for name, (size, _) in head.files.items():
            copy_file(source / name, folder / name, size)
        return VerifiedDataset(folder, lambda name: source / name)

    return Incoming(source, head, write)


def from_verified(dataset: VerifiedDataset) -> Incoming:
    """Return a verified dataset on the disk of the store, whose files are moved."""
    return Incoming(dataset.folder, read_head(dataset.folder), dataset.move_to)
