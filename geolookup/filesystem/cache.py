"""stub"""
from __future__ import annotations
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from geolookup.filesystem.cache_folder import default_folder
T = TypeVar("T")
def open_cached(name: str, find: Callable[[Path], T | None], make: Callable[[Path], object]) -> T:
    folder = default_folder() / "datasets" / name
    folder.parent.mkdir(parents=True, exist_ok=True)
    found = find(folder)
    if found is None:
        make(folder)
        found = find(folder)
    assert found is not None
    return found
