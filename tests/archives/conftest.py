"""Numbered datasets, built once, and a delta between two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.archives.pack import pack
from tests.store.numbered import named


@pytest.fixture(scope="session")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three datasets of one name; nobody may change them."""
    folder = tmp_path_factory.mktemp("archived")
    return [named(folder / str(number), "geo", number) for number in range(3)]


@pytest.fixture(scope="session")
def delta(datasets: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """From number 0 to number 1."""
    path = tmp_path_factory.mktemp("packed") / "delta.tar.zst"
    pack(datasets[1], path, base=datasets[0])
    return path
