"""The store that an update publishes into: where it is, whether it can be written, what it has."""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.store import pointer, user_store
from geolookup.store.changing import check_store


def place_of(store: str | os.PathLike[str] | None) -> Path:
    """Return the folder of a store, None for the user's; OutputError without a home folder."""
    place = Path(user_store.place() if store is None else store)
    if not place.parent.is_absolute() and store is None:
        raise OutputError(place, "the home folder is not known", "name a store")
    return place


def check_place(store: Path) -> None:
    """Raise OutputError where a store cannot be written or created."""
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
        store.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"cannot be created ({error.strerror})"
        raise OutputError(store.parent, problem, "name another store") from error


def current_of(store: Path) -> str | None:
    """Return the current generation of a store; None if it has none."""
    standing = pointer.standing(pointer.read(store))
    return standing[-1].generation if standing else None


def _is_user_store(store: Path) -> bool:
    return store == Path(user_store.place())
