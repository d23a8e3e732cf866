"""Two pairs of keys, and three datasets of one name; nobody may change them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from geolookup.signing.keys import PrivateKey, generate, read_private
from tests.store.numbered import shared


@pytest.fixture(scope="session")
def key_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of two private keys; those of the public keys are beside them."""
    folder = tmp_path_factory.mktemp("keys")
    files = [folder / "ours", folder / "theirs"]
    for each in files:
        generate(each)
    return files


@pytest.fixture(scope="session")
def ours(key_files: list[Path]) -> PrivateKey:
    """The key that is trusted in most tests."""
    return read_private(key_files[0])


@pytest.fixture(scope="session")
def theirs(key_files: list[Path]) -> PrivateKey:
    """A key that is not trusted in most tests."""
    return read_private(key_files[1])


@pytest.fixture
def datasets(tmp_path: Path) -> list[Path]:
    """Copies of three datasets of one name, which a test may sign."""
    copies = [tmp_path / "datasets" / str(number) for number in range(3)]
    for number, copy in enumerate(copies):
        shutil.copytree(shared(number), copy)
    return copies
