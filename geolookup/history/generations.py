"""The generations of a store: list them, and roll back to the one before the current one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from geolookup.errors import DatasetError
from geolookup.history.archived import manifest_of, restore
from geolookup.history.result import StoreResult
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path

if TYPE_CHECKING:
    from geolookup.signing.keys import SigningKeys

_KeptAs = Literal["folder", "archive"]


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of a store."""

    generation: str
    at: str  # when it was last published, ISO 8601 in UTC
    current: bool  # whether engines answer from it
    withdrawn: bool  # whether a rollback withdrew it
    in_force_since: str | None  # when it last became current, ISO 8601 in UTC
    data_date: str | None  # of the oldest deciding source, ISO 8601
    kept_as: _KeptAs
    bytes: int | None  # on the disk; None, as ``data_date``, if it is damaged


def generations(store: str | os.PathLike[str] | None = None) -> list[Generation]:
    """Return the generations of a store, by default the user's, the newest first.

    Each has ``generation`` (its id, 64 hexadecimal digits), ``at`` (when it was last published,
    ISO 8601 in UTC), ``current`` and ``withdrawn``, ``in_force_since`` (when it last became
    current), ``data_date`` (of the oldest deciding source; None if unknown), ``kept_as`` ("folder"
    or "archive") and ``bytes`` on the disk. Raises DatasetError without a store.
    """
    store = store_path(store)
    published = pointer.read_existing(store)
    current = pointer.not_withdrawn(published)[-1]
    since = {change.generation: change.since for change in pointer.read_changes(store)}
    return [
        Generation(
            entry.generation,
            entry.at,
            entry is current,
            entry.withdrawn,
            since.get(entry.generation),
            *_data(store, entry.generation),
        )
        for entry in reversed(published)
    ]


def _data(store: Path, generation: str) -> tuple[str | None, _KeptAs, int | None]:
    """Return the date of the data, how a generation is kept, and its bytes."""
    kept_as: _KeptAs = "folder" if pointer.is_unpacked(store, generation) else "archive"
    try:
        date = manifest_of(store, generation).metadata().age.date
        if kept_as == "archive":
            size = Path(pointer.archive_of(store, generation)).stat().st_size
        else:
            folder = Path(pointer.folder_of(store, generation))
            size = sum(path.stat().st_size for path in folder.iterdir())
    except (DatasetError, FileNotFoundError):  # damaged, or removed meanwhile
        return None, kept_as, None
    return date, kept_as, size


def rollback(
    store: str | os.PathLike[str] | None = None, *, signing_keys: SigningKeys = ()
) -> StoreResult:
    """Withdraw the current generation of a store, by default the user's; return what was done.

    The generation before it becomes current; it is verified first. A withdrawn generation stays in
    the store until it is pruned; ``publish`` makes it current again, a rollback never does.
    ``signing_keys`` is the file of a private key, or several, to sign the new current generation
    again: if keys are trusted, no older signature is accepted. Raises DatasetError without a
    store or a generation before the current one, a damaged one, or one whose signature the store
    does not accept, KeyFileError for a bad key, OutputError if the store cannot be written; the
    store then does not change.
    """
    from geolookup.integrity import verify  # imports Arrow: slow
    from geolookup.signing.keys import read_signing_keys
    from geolookup.store.signatures import check_trusted, sign_generation
    from geolookup.store.trusted import trust_of

    store = store_path(store)
    result = StoreResult(str(store))
    signers = read_signing_keys(signing_keys)
    with result.step("rollback"), changing(store) as published:
        not_withdrawn = pointer.not_withdrawn(published)
        if len(not_withdrawn) < 2:
            raise DatasetError(store, "no generation before the current one", "publish another")
        before, current = (entry.generation for entry in not_withdrawn[-2:])
        folder = restore(store, before)
        verify(folder)
        if signers:
            sign_generation(store, before, signers)
        elif (trust := trust_of(store)) is not None:
            check_trusted(folder, trust)
        pointer.save(store, [pointer.withdraw(entry, {current}) for entry in published])
    return result.ended("rolled back")
