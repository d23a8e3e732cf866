"""The signatures of what a store has: written, replaced by newer ones, and their serials.

A generation never changes but for ``signature.json``, which is replaced by one rename. It is no
file of the dataset: no engine maps it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.regular import open_regular
from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import (
    SIGNATURE,
    Statement,
    read_signature,
    read_statement,
    serial_in,
    stated,
)
from geolookup.signing.trust import Trust
from geolookup.store import pointer


def manifest_text(dataset: str | os.PathLike[str]) -> bytes:
    """Return the content of a dataset's manifest; DatasetError where it cannot be read."""
    path = Path(dataset, fmt.MANIFEST)
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise DatasetError(path, problem, "check its name and permissions") from error


def check_trusted(dataset: str | os.PathLike[str], trust: Trust) -> Statement:
    """Return the statement of a dataset that is accepted; DatasetError for any other.

    Reads manifest and signature alone: ``verify`` checks the digests in the manifest.
    """
    return trust.check(manifest_text(dataset), read_signature(dataset), dataset)


def latest_serial(store: str | os.PathLike[str]) -> int:
    """Return the greatest serial of a store's generations, also of withdrawn ones; 0 for none."""
    folders = (pointer.folder_of(store, each.generation) for each in pointer.read(store))
    return max(map(serial_in, folders), default=0)


def sign_dataset(dataset: Path, keys: Sequence[PrivateKey], after: int = 0) -> None:
    """Sign a dataset, which the caller has verified, with a serial above ``after`` and its own."""
    write_signature(dataset, stated(manifest_text(dataset), keys, max(after, serial_in(dataset))))


def adopt_signature(dataset: Path, text: bytes) -> None:
    """Give a dataset the signature ``text`` if it is newer than its own.

    Raises DatasetError for a text that is no statement of this manifest. Whether its keys are
    trusted is the caller's to check.
    """
    statement = read_statement(text, manifest_text(dataset), None, dataset / SIGNATURE)
    if statement.serial > serial_in(dataset):
        write_signature(dataset, text)


def write_signature(dataset: Path, text: bytes) -> None:
    """Replace the signature of a dataset, atomically."""
    with atomic.staged_file(dataset / SIGNATURE) as fresh:
        fresh.write_bytes(text)
