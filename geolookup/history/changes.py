"""The changes between generations of a store that follow each other in force, one file each.

    STORE/changes/OLD-NEW.parquet   the rows that ``diff --rows`` writes of two generations; OLD and
                                    NEW are the 16 first digits of each id

History reads these files, and compares both generations if a file is missing or damaged. So a file
that cannot be written is only a warning. The files are not signed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from geolookup.errors import DatasetError, OutputError, short_id
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.unpacked import unpacked
from geolookup.store import pointer

_DIGITS = 16
_NAME = re.compile(rf"[0-9a-f]{{{_DIGITS}}}-[0-9a-f]{{{_DIGITS}}}\.parquet")


def changes_path(store: Path, old: str, new: str) -> Path:
    """Return the file of the changes between two generations, existing or not."""
    return store / pointer.CHANGES / f"{old[:_DIGITS]}-{new[:_DIGITS]}.parquet"


def write_missing(store: Path, kept: Collection[str]) -> list[str]:
    """Write the missing files; return a warning for each that cannot be written.

    ``kept`` are the generations that the store keeps. The caller holds the lock of the store.
    """
    warnings = []
    for old, new in _neighbours(store, kept):
        path = changes_path(store, old, new)
        try:
            if not path.is_file():
                _write(store, old, new, path)
        except (DatasetError, OutputError, OSError, MemoryError) as error:
            pair = f"generations {short_id(old)} and {short_id(new)}"
            warnings.append(f"the changes between {pair} are not written: {error}")
    return warnings


def remove_others(store: Path, kept: Collection[str]) -> None:
    """Remove the files of other generations, and of those that no longer follow each other."""
    needed = {changes_path(store, *pair) for pair in _neighbours(store, kept)}
    for path in (store / pointer.CHANGES).glob("*.parquet"):
        if _NAME.fullmatch(path.name) and path not in needed:
            path.unlink(missing_ok=True)


def _neighbours(store: Path, kept: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each two kept generations that were in force one after the other."""
    # A, B (removed), B, C, A: A and C, C and A.
    in_force = [change.generation for change in pointer.read_changes(store)]
    known = [generation for generation in in_force if generation in kept]
    yield from dict.fromkeys(pair for pair in pairwise(known) if len({*pair}) == 2)


def _write(store: Path, old: str, new: str, path: Path) -> None:
    from geolookup.history.change_files import write_changes  # imports Arrow: slow

    path.parent.mkdir(FOLDER_MODE, exist_ok=True)
    write_changes(unpacked(store, old), unpacked(store, new), path)
