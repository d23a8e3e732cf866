"""One server for all tests that change nothing about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.serving import Server, Store, serving, sqlite_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    pytest.importorskip("granian")
    made = sqlite_store(tmp_path_factory.mktemp("accounts"))
    made.key()  # makes the file
    return made


@pytest.fixture(scope="session")
def key(store: Store) -> str:
    return store.key()


@pytest.fixture(scope="session")
def server(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two workers on the small dataset; the tests' own machine is a trusted proxy."""
    folder = tmp_path_factory.mktemp("server")
    with serving(store, folder, "--trusted-proxy", "127.0.0.0/8", workers=2) as running:
        yield running


@pytest.fixture
def own_store(tmp_path: Path) -> Store:
    pytest.importorskip("granian")
    made = sqlite_store(tmp_path)
    made.key()
    return made
