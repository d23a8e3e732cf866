"""A store of five numbered datasets, each published on the first of a month; three are archives."""

from __future__ import annotations

import shutil
from pathlib import Path

from geolookup import publish
from tests.datasets import once
from tests.internals.store import Change, Publication, pointer
from tests.store.numbered import id_of, shared

#: The date on which each number was published.
DATES = tuple(f"2026-0{number + 1}-01" for number in range(5))
ARCHIVED, UNPACKED = (0, 1, 2), (3, 4)


def past_store(target_folder: Path) -> Path:
    """Copy the store."""
    return shutil.copytree(once("history-past", _made), target_folder)


def _made(store: Path) -> None:
    for number in range(5):
        publish(shared(number), store)
    set_periods(store, *zip(range(5), DATES, strict=True))


def set_periods(store: Path, *periods: tuple[int, str]) -> None:
    """Put numbers of datasets into force at dates."""
    published = dict(reversed(periods))
    entries = [
        Publication(id_of(number), *[f"{published.get(number, date)}T00:00:00Z"] * 2)
        for number, date in enumerate(DATES)
    ]
    changes = [Change(id_of(number), f"{date}T00:00:00Z") for number, date in periods]
    pointer.save(store, entries, changes)


def archive(store: Path, number: int) -> Path:
    return Path(pointer.archive_of(store, id_of(number)))
