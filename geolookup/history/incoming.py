"""Datasets on their way into a store: a folder, an archive, or one that the store keeps already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from geolookup.archives.extract import extract
from geolookup.archives.head import Head, is_archive, open_archive
from geolookup.archives.members import SUFFIX
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import manifest_text
from geolookup.filesystem import atomic
from geolookup.filesystem.copying import copy_file
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.signing.statement import read_signature
from geolookup.store import pointer, resolve


@dataclass(frozen=True, slots=True)
class Incoming:
    """A dataset on its way into a store: its manifest, its signature, and a writer of its files."""

    path: Path  # names it in errors
    generation: str
    manifest_text: bytes
    signature: bytes | None  # the dataset's own, or a newer one
    #: Writes the files to an empty folder and verifies them, once; DatasetError if it cannot.
    write: Callable[[Path], VerifiedDataset]


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
        yield _of_head(archive, head, partial(extract, head, members))


def from_store(store: Path, generation: str) -> AbstractContextManager[Incoming]:
    """Return a generation that a store keeps; DatasetError if it does not."""
    if pointer.is_unpacked(store, generation):
        return nullcontext(from_folder(Path(pointer.folder_of(store, generation))))
    return from_archive(Path(pointer.archive_of(store, generation)))


def from_folder(source: Path) -> Incoming:
    """Return a dataset whose files are copied, then verified: the source may change at any time."""
    head = Head.of(manifest_text(source), read_signature(source), source / fmt.MANIFEST)

    def write(folder: Path) -> VerifiedDataset:
        for name, text in head.texts():
            with create(folder / name) as file:
                file.write(text)
            atomic.fsync(folder / name)
        for name, (size, _) in head.files.items():
            copy_file(source / name, folder / name, size)
        return VerifiedDataset(folder, lambda name: source / name)

    return _of_head(source, head, write)


def from_verified(dataset: VerifiedDataset) -> Incoming:
    """Return a verified dataset on the disk of the store, whose files are moved."""
    return replace(from_folder(dataset.folder), write=dataset.move_to)


def _of_head(path: Path, head: Head, write: Callable[[Path], VerifiedDataset]) -> Incoming:
    return Incoming(path, head.manifest.generation, head.manifest_text, head.signature, write)
