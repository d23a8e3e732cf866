"""The files of former answers, kept beside the deltas: a history needs no unpacking.

::

    STORE/history/OLD-NEW.former    the answers of OLD where NEW answers otherwise; OLD and NEW are
                                    the 16 first digits of each id

A file is written for each two generations that follow each other in ``in_force``, before one of
them becomes a delta. It can be made again of the two, so a failure is only a warning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path

from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE
from geolookup.history.kept_deltas import dataset_folder
from geolookup.store import pointer

_DIGITS = 16
_NAME = re.compile(rf"[0-9a-f]{{{_DIGITS}}}-[0-9a-f]{{{_DIGITS}}}\.former")


def former_answers_path(store: Path, old: str, new: str) -> Path:
    """Return the file of the answers that changed between two generations, existing or not."""
    return store / pointer.HISTORY / f"{old[:_DIGITS]}-{new[:_DIGITS]}.former"


def write_missing(store: Path, kept: Collection[str], unpacked: Collection[str]) -> Iterator[str]:
    """Write the missing files; yield a warning for each that cannot be written.

    ``kept`` are the generations of the store, ``unpacked`` those that remain folders: between two
    of these no file is needed.
    """
    for old, new in _neighbours(store, kept):
        if {old, new} <= set(unpacked) or former_answers_path(store, old, new).is_file():
            continue
        try:
            _write(store, old, new)
        except (DatasetError, OutputError, OSError) as error:
            yield f"the answers of generation {old} that {new} changed are not kept: {error}"


def remove_others(store: Path, kept: Collection[str]) -> None:
    """Remove the files of other generations, and of those that no longer follow each other."""
    pairs = _neighbours(store, kept)
    needed = {former_answers_path(store, *pair) for pair in pairs}
    for path in (store / pointer.HISTORY).glob("*.former"):
        if _NAME.fullmatch(path.name) and path not in needed:
            path.unlink(missing_ok=True)


def _neighbours(store: Path, kept: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each two kept generations that were in force one after the other."""
    # A, B (removed), B, C, A: A and C, C and A.
    in_force = [change.generation for change in pointer.read_changes(store)]
    known = (generation for generation in in_force if generation in kept)
    yield from ((old, new) for old, new in pairwise(known) if old != new)


def _write(store: Path, old: str, new: str) -> None:
    from geolookup.comparison.former_answers import write_former_answers  # imports Arrow: slow

    path = former_answers_path(store, old, new)
    path.parent.mkdir(FOLDER_MODE, exist_ok=True)
    folders = dataset_folder(store, old), dataset_folder(store, new)
    write_former_answers(*folders, path, mode=FILE_MODE)
