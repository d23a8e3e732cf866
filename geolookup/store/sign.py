"""``geolookup.sign``: signs a dataset, or the current generation of a store, again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from geolookup.errors import DatasetError
from geolookup.integrity import verify
from geolookup.signing.keys import PrivateKey, Signing, signing_keys
from geolookup.signing.statement import read_signature, stated
from geolookup.signing.trust import Trust
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.signatures import (
    latest_serial,
    manifest_text,
    sign_dataset,
    write_signature,
)
from geolookup.store.trusted import trust_of


def sign(dataset: str | os.PathLike[str], keys: Signing) -> None:
    """Verify a dataset, or the current generation of a store, and write its ``signature.json``.

    ``keys`` is the file of a private key, or several: then each signs. A signature that is there
    is replaced; the serial of the new one is greater, in a store than those of all its
    generations. Needs the extra ``sign``. Raises DatasetError for a dataset that is missing or
    damaged, and in a store that trusts none of the keys, KeyFileError for a file that is no
    private key or that others may read, OutputError where the signature cannot be written,
    ValueError for no key.
    """
    place, signers = Path(dataset), signing_keys(keys)
    if not signers:
        raise ValueError("no key to sign with; name the file of a private key")
    if not pointer.read(place):
        verify(place)
        sign_dataset(place, signers)
        return
    with changing(place) as published:
        current = pointer.standing(published)[-1]
        verify(pointer.folder_of(place, current.generation))
        sign_generation(place, current.generation, signers)


def is_signed_by(dataset: Path, keys: Sequence[PrivateKey]) -> bool:
    """Return whether each of the keys has signed a dataset as it is."""
    try:
        text, signature = manifest_text(dataset), read_signature(dataset)
        for key in keys:
            Trust((key.public,)).check(text, signature, dataset)
    except DatasetError:
        return False
    return True


def check_signers(store: str | os.PathLike[str], keys: Sequence[PrivateKey]) -> None:
    """Raise DatasetError where a store trusts none of the keys that will sign.

    For commands that work for minutes before they publish.
    """
    trust = trust_of(store)
    if trust is not None and not trust.has_one_of(keys):
        problem = "takes only what a trusted key signs, and no such key is given"
        raise DatasetError(store, problem, "name one with --sign KEY")


def sign_generation(store: Path, generation: str, keys: Sequence[PrivateKey]) -> None:
    """Sign a generation of a store, so that its serial is the greatest; the caller verified it.

    Raises DatasetError in a store that trusts none of the keys.
    """
    folder = Path(pointer.folder_of(store, generation))
    text = manifest_text(folder)
    signature = stated(text, keys, latest_serial(store))
    if (trust := trust_of(store)) is not None:
        trust.check(text, signature, folder)
    write_signature(folder, signature)
