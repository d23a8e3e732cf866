"""Datasets on their way into a store: a folder, an archive, or one that the store keeps already."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.extract import extract
from geolookup.archives.head import is_archive, open_archive
from geolookup.archives.members import SUFFIX
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import manifest_text, parsed_manifest
from geolookup.filesystem.copying import copy_file, write_file
from geolookup.integrity import VerifiedDataset
from geolookup.signing.statement import SIGNATURE, read_signature
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
        generation = head.manifest.generation
        yield Incoming(
            archive,
            generation,
            head.manifest_text,
            head.signature,
            lambda folder: extract(head, members, folder),
        )


def from_store(store: Path, generation: str) -> AbstractContextManager[Incoming]:
    """Return a generation that a store keeps; DatasetError if it does not."""
    if pointer.is_unpacked(store, generation):
        return nullcontext(from_folder(Path(pointer.folder_of(store, generation))))
    return from_archive(Path(pointer.archive_of(store, generation)))


def from_folder(source: Path) -> Incoming:
    """Return a dataset whose files are copied, then verified: the source may change at any time."""
    text = manifest_text(source)
    manifest, signature = parsed_manifest(text, source / fmt.MANIFEST), read_signature(source)
    files = {name: manifest.file(name) for name in manifest.expected_files}
    sizes = {name: file.bytes or 0 for name, file in files.items() if file is not None}

    def write(folder: Path) -> VerifiedDataset:
        write_file(folder / fmt.MANIFEST, text)
        if signature is not None:
            write_file(folder / SIGNATURE, signature)
        for name, size in sizes.items():
            copy_file(source / name, folder / name, size)
        return VerifiedDataset(folder, lambda name: source / name)

    return Incoming(source, manifest.generation, text, signature, write)


def from_verified(dataset: VerifiedDataset) -> Incoming:
    """Return a verified dataset on the disk of the store, whose files are moved."""
    folder = dataset.folder
    text, signature = manifest_text(folder), read_signature(folder)
    return Incoming(folder, dataset.generation, text, signature, dataset.move_to)
