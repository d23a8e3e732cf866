"""Numbered datasets of one name, built once, and a store of the first three of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.store.publish import publish
from tests.store.numbered import named


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five datasets of the name "acme", number 0 to 4; nobody may change them."""
    folder = tmp_path_factory.mktemp("acme")
    return [named(folder / str(number), "acme", number) for number in range(5)]


@pytest.fixture
def store(tmp_path: Path, datasets: list[Path]) -> Path:
    """A store that has published number 0, 1 and 2."""
    place = tmp_path / "store"
    for dataset in datasets[:3]:
        publish(dataset, place)
    return place
