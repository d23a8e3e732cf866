"""The store of an update: its path, the files of updates in it, and the result of one.

::

    STORE/.update.lock     held by the process that updates the store
    STORE/.update/         its staging directory: on the file system of the generations
    STORE/update.json      dataset and begin of the last update that succeeded; for --if-older

The lock of the store itself (``store.changing``) is held only while the store changes:
``publish`` and ``rollback`` do not wait for downloads.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from geolookup.contract.gregorian import read_timestamp, timestamp
from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free
from geolookup.filesystem.ownership import FOLDER_MODE, create
from geolookup.store import paths, pointer
from geolookup.store.changing import changing, check_store

_LOCK, _STAGING, _CHECKED = ".update.lock", ".update", "update.json"
State = Literal["updated", "current", "withdrawn", "recent", "planned"]


@dataclass(frozen=True, slots=True)
class Updated:
    """What happened, and the current generation of the store, if any.

    ``state``: "updated", "current" (nothing changed), "withdrawn" (a rollback withdrew what the
    sources, the archive or the mirror give), "recent" (``if_older``) or "planned" (``dry_run``).
    """

    state: State
    store: str
    generation: str | None
    removed: tuple[str, ...] = ()  # generations that were pruned
    warnings: tuple[str, ...] = ()  # what failed after the publication, a line each


def place_of(store: str | os.PathLike[str] | None) -> Path:
    """Return the folder of a store, None for the user's; OutputError without a home folder."""
    folder = Path(paths.user_store() if store is None else store)
    # expanduser leaves "~" unchanged if the home folder is unknown.
    if not folder.parent.is_absolute() and store is None:
        raise OutputError(folder, "the home folder is not known", "name a store")
    return folder


def check_place(store: Path) -> None:
    """Raise OutputError if a store cannot be written or created."""
    if not _is_user_store(store) and not store.parent.is_dir():
        raise OutputError(store.parent, "no such folder", "create it first")
    with atomic.output_errors(store):
        atomic.check_place(store)
        check_store(store)


def make_data_folder(store: Path) -> None:
    """Create the folder that the user's store is in; other stores have to be in one."""
    if not _is_user_store(store):
        return
    try:
        for folder in reversed([store.parent, *store.parent.parents]):
            folder.mkdir(FOLDER_MODE, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise OutputError(store.parent, problem, "name another store") from error


def current_of(store: Path) -> str | None:
    """Return the current generation of a store; None if it has none."""
    standing = pointer.standing(pointer.read(store))
    return standing[-1].generation if standing else None


def _is_user_store(store: Path) -> bool:
    return store == Path(paths.user_store())


@contextmanager
def updating(store: Path, tell: Callable[[str], None]) -> Iterator[Path]:
    """Yield an empty staging directory in a store, created if missing; other updates wait.

    Leftovers of an update that died are removed, and so is the directory afterwards.
    Raises OutputError for a folder that is not a store, DatasetError for a damaged store.
    """
    with changing(store, make=True):
        pass  # creates the store, or refuses the folder
    staging = store / _STAGING
    with ExitStack() as stack:
        _lock(store, stack, tell)
        try:  # from here on: a signal may end the process as soon as the folder exists
            with atomic.output_errors(staging):
                _remove(staging)
                staging.mkdir(0o700)
            yield staging  # outside output_errors: the store is not at fault for what fails here
        finally:
            shutil.rmtree(staging, ignore_errors=True)


def _lock(store: Path, stack: ExitStack, tell: Callable[[str], None]) -> None:
    with atomic.output_errors(store / _LOCK):
        is_free = stack.enter_context(hold_lock_if_free(store / _LOCK))
    if not is_free:
        tell("another update of this store is running; waiting until it has finished")
        with atomic.output_errors(store / _LOCK):
            stack.enter_context(hold_lock(store / _LOCK))


def _remove(path: Path) -> None:
    """Remove a folder, a file, or a link, but not the target of a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def has_succeeded_within(store: Path, dataset: str, limit: timedelta) -> bool:
    """Return whether an update of this dataset that succeeded began less than ``limit`` ago.

    False for a time in the future: after a clock was wrong, updates must not stop. False also
    without a readable record: it costs an update.
    """
    try:
        record = json.loads((store / _CHECKED).read_bytes())
        checked = read_timestamp(record["checked"])
        passed = datetime.now(UTC) - checked
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return False
    return record.get("dataset") == dataset and timedelta(0) <= passed < limit


def record_success(store: Path, staging: Path, dataset: str, began: datetime) -> None:
    """Record that an update succeeded, and when it began; written in ``staging``, then renamed."""
    record = {"dataset": dataset, "checked": timestamp(began)}
    fresh = staging / _CHECKED
    with atomic.output_errors(store / _CHECKED):
        with create(fresh) as file:
            file.write(json.dumps(record).encode() + b"\n")
            atomic.sync(file)
        fresh.replace(store / _CHECKED)
        atomic.fsync_folder(store)
