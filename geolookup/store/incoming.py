"""Datasets on their way to a store: a folder is copied; a verified one on its disk is moved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import ReadErrors, atomic, open_regular
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.signing.statement import SIGNATURE, read_signature
from geolookup.store.signatures import manifest_text


@dataclass(frozen=True, slots=True)
class IncomingDataset:
    """A dataset on its way to a store: its manifest, and a function that writes its files."""

    path: Path  # names it in errors
    generation: str
    manifest_text: bytes
    signature: bytes | None
    #: Writes the files to an empty folder and verifies them; DatasetError if it cannot.
    write: Callable[[Path], VerifiedDataset]
    #: Checks the dataset if the store has its generation, whose folder is the argument.
    check: Callable[[Path], object] = lambda _target: None


def check_expected(generation: str, expect: str | None, path: Path) -> None:
    """Raise DatasetError naming ``path`` if the generation is not the expected one."""
    if expect not in (None, generation):
        problem = f"its generation is {generation}, but {expect} was expected"
        whole = expect is not None and len(expect) == len(generation)
        remedy = "fetch the dataset that you expect" if whole else "state all 64 digits of the id"
        raise DatasetError(path, problem, remedy)


def from_folder(source: Path) -> IncomingDataset:
    """Return a dataset whose files are copied."""
    manifest = read_manifest(source)
    text, signature = manifest_text(source), read_signature(source)
    names = manifest.expected_files
    files = {name: manifest.file(name) for name in names}
    sizes = {name: file.bytes or 0 for name, file in files.items() if file is not None}
    texts = {fmt.MANIFEST: text, SIGNATURE: signature}

    def check(target: Path) -> None:
        """Verify the source too: other data may state the id of the generation in the store."""
        if not source.samefile(target):
            VerifiedDataset(source)

    write = partial(_copy, source, sizes, texts)
    return IncomingDataset(source, manifest.generation, text, signature, write, check)


def from_verified(dataset: VerifiedDataset) -> IncomingDataset:
    """Return a verified dataset on the disk of the store, whose files are moved into the store."""
    folder = dataset.folder
    text, signature = manifest_text(folder), read_signature(folder)
    return IncomingDataset(folder, dataset.generation, text, signature, dataset.move_to)


def _copy(
    source: Path, sizes: Mapping[str, int], texts: Mapping[str, bytes | None], fresh: Path
) -> VerifiedDataset:
    """Copy the files, then verify the copies: the source may change at any time."""
    for name, text in texts.items():
        if text is not None:
            with create(fresh / name) as file:
                file.write(text)
                atomic.sync(file)
    for name, size in sizes.items():
        copy_file(source / name, fresh / name, size)
    return VerifiedDataset(fresh, lambda name: source / name)


def copy_file(source: Path, target: Path, size: int, *, durable: bool = True) -> None:
    """Copy a file of a dataset; DatasetError for more bytes than its stated size.

    ``durable``: sync it to the disk.
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
        if durable:
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
