"""Datasets on their way into a store: a folder, an archive, or one that the store keeps already."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from geolookup.archives.extract import extract
from geolookup.archives.head import is_archive, open_archive
from geolookup.archives.members import SUFFIX
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import ReadErrors, atomic, open_regular
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.signing.statement import SIGNATURE, read_signature
from geolookup.store import pointer, resolve
from geolookup.store.signatures import manifest_text


@dataclass(frozen=True, slots=True)
class Incoming:
    """A dataset on its way into a store: what it states, and how its files are written."""

    path: Path  # names it in errors
    generation: str
    manifest_text: bytes
    signature: bytes | None
    #: Writes the files to an empty folder and verifies them, once; DatasetError if it cannot.
    write: Callable[[Path], VerifiedDataset]


@contextmanager
def opened(dataset: str | os.PathLike[str] | None) -> Iterator[Incoming]:
    """Yield the dataset of a path that ``geolookup.open`` accepts, or of an archive.

    Raises DatasetError for one that is missing or damaged.
    """
    path = None if dataset is None else Path(dataset)
    # By its name or its first bytes: a damaged archive is no folder either.
    if path is not None and path.is_file() and (path.name.endswith(SUFFIX) or is_archive(path)):
        with from_archive(path) as incoming:
            yield incoming
    else:
        yield from_folder(Path(resolve.folder(dataset)))


@contextmanager
def from_archive(archive: Path) -> Iterator[Incoming]:
    """Yield the dataset of an archive, which stays open."""
    with open_archive(archive) as (head, members):
        generation = head.manifest.generation
        yield Incoming(
            archive,
            generation,
            head.manifest_text,
            head.signature,
            lambda folder: extract(head, members, folder),
        )


@contextmanager
def from_store(store: Path, generation: str) -> Iterator[Incoming]:
    """Yield a generation that a store keeps; DatasetError if it does not."""
    if pointer.is_unpacked(store, generation):
        yield from_folder(Path(pointer.folder_of(store, generation)))
    else:
        with from_archive(Path(pointer.archive_of(store, generation))) as incoming:
            yield incoming


def from_folder(source: Path) -> Incoming:
    """Return a dataset whose files are copied, then verified: the source may change at any time."""
    generation = read_manifest(source).generation
    texts = {fmt.MANIFEST: manifest_text(source), SIGNATURE: read_signature(source)}

    def write(folder: Path) -> VerifiedDataset:
        for name, text in texts.items():
            if text is not None:
                with create(folder / name) as file:
                    file.write(text)
                    atomic.sync(file)
        for name, size in _sizes(source).items():
            _copy_file(source / name, folder / name, size)
        return VerifiedDataset(folder, lambda name: source / name)

    return Incoming(source, generation, texts[fmt.MANIFEST] or b"", texts[SIGNATURE], write)


def from_verified(dataset: VerifiedDataset) -> Incoming:
    """Return a verified dataset on the disk of the store, whose files are moved."""
    folder = dataset.folder
    text, signature = manifest_text(folder), read_signature(folder)
    return Incoming(folder, dataset.generation, text, signature, dataset.move_to)


def _sizes(source: Path) -> dict[str, int]:
    manifest = read_manifest(source)
    files = {name: manifest.file(name) for name in manifest.expected_files}
    return {name: file.bytes or 0 for name, file in files.items() if file is not None}


def _copy_file(source: Path, target: Path, size: int) -> None:
    """Copy a file of a dataset; DatasetError for more bytes than its stated size.

    Not a hard link: a writer of the source could change the file after it was verified.
    """
    if not source.is_file():
        raise DatasetError(source, "missing", REBUILD)
    with ReadErrors(source):
        stream = open_regular(source)
    with stream, create(target) as file:
        actual = os.fstat(stream.fileno()).st_size
        if actual > size:  # else a file of holes could fill the disk
            problem = f"{actual:,} bytes, but the manifest says {size:,}"
            raise DatasetError(source, problem, REBUILD)
        _copy_bytes(stream, file, size)
        atomic.sync(file)


def _copy_bytes(stream: BinaryIO, file: BinaryIO, size: int) -> None:
    """Copy up to ``size`` bytes; the file may grow meanwhile."""
    size -= _share_blocks(stream, file, size)
    while chunk := stream.read(min(size, 1 << 20)):
        file.write(chunk)
        size -= len(chunk)


def _share_blocks(stream: BinaryIO, file: BinaryIO, size: int) -> int:
    """Copy all that the system can, and return the number of bytes.

    By copy_file_range(2), a reflink on btrfs and XFS. The caller copies all other bytes.
    """
    left = size
    if sys.platform == "linux":
        with suppress(OSError):
            while count := os.copy_file_range(stream.fileno(), file.fileno(), min(left, 1 << 30)):
                left -= count
    return size - left
