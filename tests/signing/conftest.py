"""Two keys, three datasets of one name, and a store of two of them that trusts the first key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import SIGNATURE
from tests.signing import keys
from tests.store.numbered import generation, shared


@pytest.fixture
def key_files() -> list[Path]:
    """The files of the two private keys; those of the public keys are beside them."""
    return keys.key_files()[:2]


@pytest.fixture
def ours() -> PrivateKey:
    """The key that is trusted in most tests."""
    return keys.private_keys()[0]


@pytest.fixture
def theirs() -> PrivateKey:
    """A key that is not trusted in most tests."""
    return keys.private_keys()[1]


@pytest.fixture
def datasets(tmp_path: Path) -> list[Path]:
    """Copies of three datasets of one name, which a test may sign."""
    return [
        shutil.copytree(shared(number), tmp_path / "datasets" / str(number)) for number in range(3)
    ]


@pytest.fixture
def store(tmp_path: Path, datasets: list[Path]) -> Path:
    """A store that trusts one key, with the first two datasets, which are signed then."""
    store = shutil.copytree(keys.trusting_store(), tmp_path / "store")
    for dataset in datasets[:2]:
        shutil.copy(store / "generations" / generation(dataset) / SIGNATURE, dataset)
    return store
