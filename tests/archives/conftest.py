"""Numbered datasets, built once, and a delta between two of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.datasets import once
from tests.internals.archives import pack
from tests.store.numbered import datasets as datasets  # noqa: PLC0414 - a fixture
from tests.store.numbered import shared


@pytest.fixture(scope="session")
def delta() -> Path:
    """From number 0 to number 1; nobody may change it."""
    return once("archives-delta.tar.zst", lambda path: pack(shared(1), path, base=shared(0)))
