"""Exclusive access to a store: one process at a time. It also removes unfinished files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.store import pointer
from geolookup.store.pointer import Published

_LOCK = ".lock"
#: A generation that is being written, replaced or removed (`publish`, `prune`). Temporary names
#: have the first 50 characters of an id.
_UNFINISHED = re.compile(r"\.(?:[0-9a-f]{50,64}|removed)\.")


@contextmanager
def changing(store: Path, *, make: bool = False) -> Iterator[list[Published]]:
    """Lock a store and yield its published generations; other processes wait.

    ``make`` creates a store in a missing or empty folder. Raises DatasetError if there is
    no store, OutputError if the folder cannot become one.
    """
    with atomic.output_errors(store):
        if make:
            _make(store)
        else:
            pointer.read_existing(store)
        with hold_lock(store / _LOCK):
            _tidy(store)
            yield pointer.read(store)


def check_store(store: Path) -> None:
    """Raise OutputError unless a folder is a store, or is missing or empty and can become one."""
    if store.exists() and not store.is_dir():
        raise OutputError(store, "is not a folder", "choose another name")
    if (store / fmt.MANIFEST).exists():
        raise OutputError(store, "is a dataset, not a store", "choose another name")
    if (store / pointer.GENERATIONS).is_dir():
        return
    # The generations if another process has just created them, the keys if they were there first.
    ours = {_LOCK, pointer.GENERATIONS, pointer.TRUSTED}
    if store.exists() and {path.name for path in store.iterdir()} - ours:
        raise OutputError(store, "is not empty and not a store", "choose another name")


def _make(store: Path) -> None:
    if not store.parent.is_dir():
        raise OutputError(store.parent, "no such folder", "create it first")
    check_store(store)
    if (store / pointer.GENERATIONS).is_dir():
        return
    for folder in (store, store / pointer.GENERATIONS):
        folder.mkdir(FOLDER_MODE, exist_ok=True)
    atomic.fsync_folder(store)
    atomic.fsync_folder(store.parent)


def _tidy(store: Path) -> None:
    """Remove the unfinished files of dead processes: under the lock, no process uses them.

    Other names are not ours. What cannot be removed, such as a file that an engine still maps
    over NFS, stays for the next change.
    """
    for path in (store / pointer.GENERATIONS).iterdir():
        if _UNFINISHED.match(path.name):
            shutil.rmtree(path, ignore_errors=True)
    for path in store.glob(f".{pointer.CURRENT}.*"):
        with suppress(OSError):
            path.unlink()
