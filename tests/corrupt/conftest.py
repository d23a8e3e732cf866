"""A dataset to damage, and the kernels that are asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corrupt.probe import Probe, probes
from tests.damage import copied, whole


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A copy of the small dataset."""
    return copied(whole(), tmp_path / "copy")


@pytest.fixture(name="probes", scope="session")
def _probes() -> list[Probe]:
    return probes()
