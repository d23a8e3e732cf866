"""Signatures of datasets: ``sign`` writes them, and newer ones replace them.

Of a generation only ``signature.json`` changes, by one rename. It is not a file of the dataset:
no engine maps it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from geolookup.dataset.manifest import manifest_text
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FILE_MODE
from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup.signing.statement import (
    SIGNATURE,
    Statement,
    read_signature,
    read_statement,
    serial_in,
    signed_statement,
)
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.paths import dataset_path
from geolookup.store.trusted import latest_serial, trust_of


def check_trusted(dataset: str | os.PathLike[str], trust: Trust) -> Statement:
    """Return the statement of a dataset that is accepted; DatasetError for any other.

    Reads manifest and signature only: ``verify`` checks the digests in the manifest.
    """
    return trust.check(manifest_text(dataset), read_signature(dataset), dataset)


def adopt_signature(dataset: Path, text: bytes) -> None:
    """Give a dataset the signature ``text`` if it is newer than its own.

    Raises DatasetError unless the text is a statement of this manifest. The caller checks whether
    its keys are trusted.
    """
    statement = read_statement(text, manifest_text(dataset), None, dataset / SIGNATURE)
    if statement.serial > serial_in(dataset):
        write_signature(dataset, text)


def write_signature(dataset: Path, text: bytes) -> None:
    """Replace the signature of a dataset, atomically."""
    with atomic.staged_file(dataset / SIGNATURE, FILE_MODE) as fresh:
        fresh.write_bytes(text)


def sign(dataset: str | os.PathLike[str] | None, signing_keys: SigningKeys) -> None:
    """Verify a dataset, or the current generation of a store, and write its ``signature.json``.

    ``signing_keys`` is the file of a private key, or several: then each signs. An existing
    signature is replaced; the serial of the new one is greater, in a store greater than the serials
    of all its generations. Needs the extra ``sign``. Raises DatasetError for a dataset that is
    missing or damaged, and in a store that trusts none of the keys, KeyFileError for a file that is
    not a private key or that others may read, OutputError if the signature cannot be written,
    ValueError for no key.
    """
    from geolookup.integrity import verify  # imports Arrow: slow

    folder, signers = Path(dataset_path(dataset)), read_signing_keys(signing_keys)
    if not signers:
        raise ValueError("no key to sign with; name the file of a private key")
    if not pointer.read(folder):
        # The text that was verified: a writer of the folder could have replaced the file.
        text = verify(folder).manifest_text
        write_signature(folder, signed_statement(text, signers, serial_in(folder)))
        return
    with changing(folder) as published:
        current = pointer.not_withdrawn(published)[-1]
        verify(pointer.folder_of(folder, current.generation))
        sign_generation(folder, current.generation, signers)


def is_signed_by(dataset: Path, keys: Sequence[PrivateKey]) -> bool:
    """Return whether each of the keys has signed the present manifest of a dataset."""
    try:
        text, signature = manifest_text(dataset), read_signature(dataset)
        for key in keys:
            Trust((key.public,)).check(text, signature, dataset)
    except DatasetError:
        return False
    return True


def check_signers(store: str | os.PathLike[str], keys: Sequence[PrivateKey]) -> None:
    """Raise DatasetError if a store trusts none of the keys that will sign.

    For commands that work for minutes before they publish.
    """
    trust = trust_of(store)
    if trust is not None and not trust.has_one_of(keys):
        problem = "accepts only datasets that a trusted key signs, and no such key is named"
        raise DatasetError(store, problem, "name one with --signing-key KEY")


def sign_generation(store: Path, generation: str, keys: Sequence[PrivateKey]) -> None:
    """Sign a verified generation of a store; its serial becomes the greatest.

    Raises DatasetError in a store that trusts none of the keys.
    """
    folder = Path(pointer.folder_of(store, generation))
    text = manifest_text(folder)
    signature = signed_statement(text, keys, latest_serial(store))
    if (trust := trust_of(store)) is not None:
        trust.check(text, signature, folder)
    write_signature(folder, signature)
