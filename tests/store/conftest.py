"""Numbered datasets, built once, and a store of the first two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.store.publish import publish
from tests.store.numbered import datasets as datasets  # noqa: PLC0414 - a fixture


@pytest.fixture
def store(tmp_path: Path, datasets: list[Path]) -> Path:
    """A store that has published number 0 and then number 1."""
    place = tmp_path / "store"
    for dataset in datasets[:2]:
        publish(dataset, place)
    return place
