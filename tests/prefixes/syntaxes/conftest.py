"""Fixtures of the tests with real programs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a short name, without blanks: programs read it unquoted, a socket at most 107
    bytes of it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)
