"""Lets this process choose its time zone database again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.internals.contract import database, tzdatabase
from tests.internals.kernel import python_zones


@contextmanager
def choosing(*folders: Path | str, wanted: str = "", package: bool = True) -> Iterator[str]:
    """The folders are the search path. Yield the choice as text."""
    caches = [
        item
        for module in (tzdatabase, python_zones)
        for item in vars(module).values()
        if hasattr(item, "cache_clear")
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tzdatabase, "search_path", lambda: tuple(map(str, folders)))
        patch.setenv("GEOLOOKUP_TZ", wanted)
        if not package:
            patch.setitem(sys.modules, "tzdata", None)
        for cache in caches:
            cache.cache_clear()
        yield str(database())
    for cache in caches:
        cache.cache_clear()
