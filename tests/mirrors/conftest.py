"""Numbered datasets of one name, stores of them, a mirror, and a store that follows one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from geolookup.mirrors.write import mirror
from geolookup.store.sign import sign
from tests.datasets import once
from tests.mirrors.following import Edge, edge_of
from tests.signing.keys import key_files, public_keys
from tests.store.numbered import datasets as datasets  # noqa: PLC0414 - a fixture
from tests.store.numbered import published, shared


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0, 1 and 2."""
    return published(tmp_path / "store", 0, 1, 2)


@pytest.fixture
def mirrored(tmp_path: Path) -> Path:
    """A mirror of that store."""
    return shutil.copytree(once("mirrors-mirror", _mirror), tmp_path / "mirror")


def _mirror(folder: Path) -> None:
    store = folder.with_name("mirrors-store")
    mirror(published(store, 0, 1, 2), folder)
    shutil.rmtree(store)


@pytest.fixture
def keys() -> list[Path]:
    """The files of three private keys; those of the public keys are beside them."""
    return key_files()


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """The store, whose current generation the first key has signed, and its signed mirror."""
    made = shutil.copytree(once("mirrors-signed", _signed), tmp_path / "signed")
    return made / "store", made / "mirror"


def _signed(folder: Path) -> None:
    folder.mkdir()
    (key, *_) = key_files()
    sign(published(folder / "store", 0, 1, 2), key)
    mirror(folder / "store", folder / "mirror", sign=key)


@pytest.fixture
def edge(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge without a store, of a mirror without an index."""
    with edge_of(tmp_path, datasets) as found:
        yield found


@pytest.fixture
def followed(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that has followed number 0 and 1."""
    with edge_of(_copy("mirrors-followed", tmp_path), datasets) as found:
        yield found


@pytest.fixture
def trusting(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that trusts the first key, and has followed number 0 and 1, signed with it."""
    with edge_of(_copy("mirrors-trusting", tmp_path), datasets) as found:
        yield found


def _copy(name: str, tmp_path: Path) -> Path:
    made = once(name, partial(_followed, is_signed=name == "mirrors-trusting"))
    return shutil.copytree(made, tmp_path / "copy")


def _followed(folder: Path, *, is_signed: bool) -> None:
    folder.mkdir()
    datasets = [shared(number) for number in range(2)]
    with edge_of(folder, datasets) as made:
        if is_signed:
            made.trust(public_keys()[:1])
        for number in (0, 1):
            made.publish(number, keys=key_files()[:1] if is_signed else ())
            made.poll()
