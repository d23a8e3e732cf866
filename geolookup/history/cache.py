"""The bound of the cache of unpacked generations: the least recently used ones go first."""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from geolookup.errors import SettingsError
from geolookup.filesystem import atomic
from geolookup.filesystem.limits import read_bytes

VARIABLE = "GEOLOOKUP_HISTORY_CACHE"
#: Bytes of all generations in the cache together, by default.
_MOST = 4 << 30


def make_room(folder: Path, needed: int, wanted: AbstractSet[str]) -> None:
    """Remove generations from the cache until ``needed`` bytes more are within its bound.

    The least recently used goes first; those named in ``wanted`` stay. A process that has one open
    continues to answer from it. The caller holds the lock of the cache.
    """
    most, sizes = _bound(), _sizes(folder)
    total = needed + sum(sizes.values())
    for path, size in sizes.items():
        if total > most and path.name not in wanted:
            with suppress(OSError):  # Windows refuses to rename one that is open: it stays
                atomic.remove_folder(path)
            total -= size


def _bound() -> int:
    text = os.environ.get(VARIABLE)
    if not text:
        return _MOST
    try:
        return read_bytes(text)
    except ValueError as error:
        raise SettingsError(f"{VARIABLE}: {error}") from None


def _sizes(folder: Path) -> dict[Path, int]:
    """Return the bytes of each generation in the cache, the least recently used first."""
    with os.scandir(folder) as entries:
        folders = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    by_use = sorted(folders, key=lambda entry: entry.stat().st_mtime_ns)
    return {Path(entry.path): _bytes(Path(entry.path)) for entry in by_use}


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
