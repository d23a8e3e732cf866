"""A store of five numbered datasets, each in force since the first of a month; 0 to 2 archived."""

from __future__ import annotations

import shutil
from pathlib import Path

from geolookup import publish
from tests.datasets import once
from tests.internals.store import pointer
from tests.store.numbered import id_of, shared

#: The date from which each number was in force.
DATES = tuple(f"2026-0{number + 1}-01" for number in range(5))
ARCHIVED, UNPACKED = (0, 1, 2), (3, 4)


def past_store(target_folder: Path) -> Path:
    """Copy the store."""
    return shutil.copytree(once("history-past", _make), target_folder)


def _make(store: Path) -> None:
    for number, date in enumerate(DATES):
        publish(shared(number), store, since=date)


def archive(store: Path, number: int) -> Path:
    return Path(pointer.archive_of(store, id_of(number)))
