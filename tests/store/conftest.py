"""A store of two numbered datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.store.numbered import published


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that has published number 0 and then number 1."""
    return published(tmp_path / "store", 0, 1)
