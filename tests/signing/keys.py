"""Three pairs of keys, and a store that trusts the first, made once in a run."""

from __future__ import annotations

import shutil
from pathlib import Path

import geolookup
from geolookup.signing.keys import PrivateKey, PublicKey, generate, read_private
from geolookup.store.trusted import trust
from tests.damage import copied
from tests.datasets import once
from tests.store.numbered import shared

Paths = list[Path]


def key_files() -> list[Path]:
    """The files of the private keys; those of the public keys are beside them."""
    return [once("signing-keys", _made) / str(number) for number in range(3)]


def _made(folder: Path) -> None:
    folder.mkdir()
    for number in range(3):
        generate(folder / str(number))


def private_keys() -> list[PrivateKey]:
    return [read_private(file) for file in key_files()]


def public_keys() -> list[PublicKey]:
    return [key.public for key in private_keys()]


def public(key_file: Path) -> Path:
    return key_file.with_name(f"{key_file.name}.pub")


def trusting_store() -> Path:
    """A store of the numbers 0 and 1, signed by the first key, which it trusts."""
    return once("signing-store", _store)


def _store(store: Path) -> None:
    ours = private_keys()[0]
    trust(store, [ours.public])
    for number in range(2):
        dataset = copied(shared(number), store.with_name(f"{store.name}-{number}"))
        geolookup.sign(dataset, ours)
        geolookup.publish(dataset, store)
        shutil.rmtree(dataset)
