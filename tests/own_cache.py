"""A cache folder of its own for each test of a package; its conftest imports the fixture."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of this test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(folder))
    return folder
