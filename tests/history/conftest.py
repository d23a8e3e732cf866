"""A cache folder of its own, and a store of the past."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.history.past import past_store
from tests.own_cache import cache  # noqa: F401 - a fixture


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of five generations, three of them archives."""
    return past_store(tmp_path / "store")
