"""The fixture of tests that read sources without a dataset."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.builder.sources.readings import Read, read_at


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read ``{file name: text}`` by a recipe text; returns rows, report and rejects."""
    return partial(read_at, tmp_path)
