"""Numbered datasets, built once, and a store of the first two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.store.publish import publish
from tests.store.numbered import numbered


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Eight datasets, number 0 to 7; nobody may change them."""
    folder = tmp_path_factory.mktemp("numbered")
    return [numbered(folder / str(number), number) for number in range(8)]


@pytest.fixture
def store(tmp_path: Path, datasets: list[Path]) -> Path:
    """A store that has published number 0 and then number 1."""
    place = tmp_path / "store"
    for dataset in datasets[:2]:
        publish(dataset, place)
    return place
