"""A cache folder of its own, and a store of the past."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.past import past_store


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(folder))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of five generations, three of them archives."""
    return past_store(tmp_path / "store")
