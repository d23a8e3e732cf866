"""Three pairs of keys, made once in a run."""

from __future__ import annotations

from pathlib import Path

from geolookup.signing.keys import PrivateKey, PublicKey, generate, read_private
from tests.datasets import once

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
