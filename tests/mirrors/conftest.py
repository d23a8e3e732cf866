"""Numbered datasets of one name, stores of them, a mirror, and a store that follows one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
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
    """A mirror of that store, without signatures."""
    made = once("mirrors-plain", partial(_origin, ()))
    return shutil.copytree(made / "mirror", tmp_path / "mirror")


@pytest.fixture
def keys() -> list[Path]:
    """The files of three private keys; those of the public keys are beside them."""
    return key_files()


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path]:
    """The store, whose current generation the first key has signed, and its signed mirror."""
    made = once("mirrors-signed", lambda folder: _origin(key_files()[:1], folder))
    copy = shutil.copytree(made, tmp_path / "signed")
    return copy / "store", copy / "mirror"


def _origin(keys: Sequence[Path], folder: Path) -> None:
    folder.mkdir()
    store = published(folder / "store", 0, 1, 2)
    if keys:
        sign(store, keys)
    mirror(store, folder / "mirror", sign=keys)


@pytest.fixture
def edge(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge without a store, of a mirror without an index."""
    with edge_of(tmp_path, datasets) as found:
        yield found


@pytest.fixture
def followed(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that has followed number 0 and 1."""
    made = once("mirrors-followed", partial(_followed, ()))
    with edge_of(shutil.copytree(made, tmp_path / "copy"), datasets) as found:
        yield found


@pytest.fixture
def trusting(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge that trusts the first key, and has followed number 0 and 1, signed with it."""
    made = once("mirrors-trusting", lambda folder: _followed(key_files()[:1], folder))
    with edge_of(shutil.copytree(made, tmp_path / "copy"), datasets) as found:
        yield found


def _followed(keys: Sequence[Path], folder: Path) -> None:
    folder.mkdir()
    with edge_of(folder, [shared(number) for number in range(2)]) as made:
        if keys:
            made.trust(public_keys()[:1])
        for number in (0, 1):
            made.publish(number, keys=keys)
            made.poll()
