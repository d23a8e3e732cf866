"""Each page that tests open, made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.reports.pages import PAGES


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the path of a page by its name; see ``PAGES``."""
    return cache(lambda name: PAGES[name](tmp_path_factory.mktemp(name)))
