"""The path of a store, and exclusive access to it: one process at a time changes it.

Whoever gets access removes unfinished files first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, sweep
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.store import paths, pointer
from geolookup.store.pointer import Pointer

_LOCK = ".lock"


def store_path(store: str | os.PathLike[str] | None) -> Path:
    """Return the path of a store, None for the user's; OutputError without a home folder."""
    if store is not None:
        return Path(store)
    folder = Path(paths.user_store())
    # expanduser leaves "~" unchanged if the home folder is unknown.
    if not folder.parent.is_absolute():
        raise OutputError(folder, "the home folder is not known", "name a store")
    return folder


@contextmanager
def changing(store: Path, *, make: bool = False) -> Iterator[Pointer]:
    """Lock a store and yield its pointer; other processes wait.

    ``make`` creates a store in a missing or empty folder. Raises DatasetError without
    a store, OutputError if the folder cannot become one.
    """
    with atomic.output_errors(store):
        if make:
            _make(store)
        else:
            pointer.read_existing(store)
        with hold_lock(store / _LOCK):
            for name in ("", pointer.GENERATIONS, pointer.ARCHIVE, pointer.CHANGES):
                sweep(store / name)
            yield pointer.read(store)


def check_place(store: Path) -> None:
    """Raise OutputError if a store can neither be written nor made."""
    with atomic.output_errors(store):
        check_store(store)
        nearest = next(path for path in (store, *store.parents) if os.path.lexists(path))
        if not nearest.is_dir():
            raise OutputError(nearest, "is not a folder", "choose another name")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise OutputError(nearest, "may not be written", "check its permissions")


def check_store(store: Path) -> None:
    """Raise OutputError unless a folder is a store, or is missing or empty and can become one.

    Only the user's store makes the folder that it is in.
    """
    if store != Path(paths.user_store()) and not store.parent.is_dir():
        raise OutputError(store.parent, "no such folder", "create it first")
    if store.exists() and not store.is_dir():
        raise OutputError(store, "is not a folder", "choose another name")
    if (store / fmt.MANIFEST).exists():
        raise OutputError(store, "is a dataset, not a store", "choose another name")
    if (store / pointer.GENERATIONS).is_dir():
        return
    # Another process may have just created the generations; the keys may be older than the store.
    ours = {_LOCK, pointer.GENERATIONS, pointer.TRUSTED}
    if store.exists() and {path.name for path in store.iterdir()} - ours:
        raise OutputError(store, "is not empty and not a store", "choose another name")


def _make(store: Path) -> None:
    check_store(store)
    if (store / pointer.GENERATIONS).is_dir():
        return
    for folder in (*reversed(store.parents), store, store / pointer.GENERATIONS):
        folder.mkdir(FOLDER_MODE, exist_ok=True)
    atomic.fsync(store)
    atomic.fsync(store.parent)
