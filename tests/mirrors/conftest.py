"""Numbered datasets of one name, built once, stores of them, and one that follows a mirror."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.store.publish import publish
from tests.mirrors.following import Edge, edge_of
from tests.store.numbered import datasets as datasets  # noqa: PLC0414 - a fixture


@pytest.fixture
def store(tmp_path: Path, datasets: list[Path]) -> Path:
    """A store that has published number 0, 1 and 2."""
    place = tmp_path / "store"
    for dataset in datasets[:3]:
        publish(dataset, place)
    return place


@pytest.fixture(scope="session")
def followed_folder(tmp_path_factory: pytest.TempPathFactory, datasets: list[Path]) -> Path:
    """The folder of an edge that has followed number 0 and 1; nobody may change it."""
    folder = tmp_path_factory.mktemp("followed")
    with edge_of(folder, datasets) as edge:
        for number in (0, 1):
            edge.publish(number)
            edge.poll()
    return folder


@pytest.fixture
def edge(tmp_path: Path, datasets: list[Path]) -> Iterator[Edge]:
    """An edge without a store, of a mirror without an index."""
    with edge_of(tmp_path, datasets) as found:
        yield found


@pytest.fixture
def followed(tmp_path: Path, datasets: list[Path], followed_folder: Path) -> Iterator[Edge]:
    """An edge that has followed number 0 and 1."""
    shutil.copytree(followed_folder, tmp_path / "copy")
    with edge_of(tmp_path / "copy", datasets) as found:
        yield found
