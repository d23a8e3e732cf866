"""The generations of a store: listed, rolled back to the one before the current one, pruned.

Strategy of ``prune``: the pointer is written before a generation is removed. Then the changes
between the remaining generations are written, while both are at hand. Then each older folder
becomes an archive, and goes after that is checked. A process that dies at any step leaves each kept
generation whole, and the next call finishes.

History reads the files of changes, and compares both generations if a file is missing or damaged.
So a file that cannot be written is only a warning. The files are not signed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from geolookup.errors import DatasetError, OutputError, short_id
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history import archived
from geolookup.history.result import StoreResult
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path
from geolookup.store.in_force import Retention, periods
from geolookup.store.pointer import Pointer

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
    content = pointer.read_existing(store)
    since = {change.generation: change.since for change in content.changes}
    return [
        Generation(
            entry.generation,
            entry.at,
            entry.generation == content.current,
            entry.withdrawn,
            since.get(entry.generation),
            *_data(store, entry.generation),
        )
        for entry in reversed(content.published)
    ]


def _data(store: Path, generation: str) -> tuple[str | None, _KeptAs, int | None]:
    """Return the date of the data, how a generation is kept, and its bytes."""
    folder = Path(pointer.folder_of(store, generation))
    kept_as: _KeptAs = "folder" if folder.is_dir() else "archive"
    try:
        date = archived.head_of(store, generation).manifest.metadata().age.date
        is_folder = kept_as == "folder"
        paths = folder.iterdir() if is_folder else [Path(pointer.archive_of(store, generation))]
        return date, kept_as, sum(path.stat().st_size for path in paths)
    except (DatasetError, OSError):  # damaged, or removed meanwhile
        return None, kept_as, None


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
    from geolookup.store.trusted import check_trusted, sign_verified, trust_of

    store = store_path(store)
    result = StoreResult(str(store))
    signers = read_signing_keys(signing_keys)
    with result.step("rollback"), changing(store) as content:
        last = [entry.generation for entry in content.not_withdrawn[-2:]]
        if len(last) < 2:
            raise DatasetError(store, "no generation before the current one", "publish another")
        before, current = last
        folder = archived.restore(store, before)
        text = verify(folder).manifest_text
        if signers:
            sign_verified(store, folder, text, signers)
        elif (trust := trust_of(store)) is not None:
            check_trusted(folder, trust)
        content.withdraw({current})
        pointer.save(store, content)
    return result.ended("rolled back")


def prune(
    store: str | os.PathLike[str] | None = None,
    keep: int | None = None,
    *,
    keep_for: timedelta | float | str | None = None,
    keep_unpacked: int | None = None,
    dry_run: bool = False,
) -> StoreResult:
    """Remove old generations of a store, by default the user's; return what was done.

    ``keep`` is the number of newest generations to keep, by default 2; one that was published with
    ``since`` counts by that date. Or ``keep_for`` (a timedelta, a number of days, or "52w", "1y")
    keeps those that were in force within that time, and never fewer than two. The current
    generation is always kept, and the one before it unless ``keep`` is 1. Of the kept ones the last
    ``keep_unpacked``, by default 2, that are not withdrawn stay folders; older ones become
    archives, STORE/archive. One that cannot become an archive stays a folder, with a warning in the
    result and in the log ``geolookup``. Engines that use a removed generation continue to answer,
    if the system can remove mapped files; Windows cannot: close those engines first.
    ``dry_run``: only the generations that would go, in a result "planned". Raises ValueError for
    both options, a number below 1 and a malformed ``keep_for``, DatasetError without a store,
    OutputError if it cannot be written.
    """
    store = store_path(store)
    retention = Retention.of(keep, keep_for, keep_unpacked)
    result = StoreResult(str(store))
    if dry_run:
        return plan(store, retention, _kept(store, retention)).ended("planned")
    _prune(store, retention, result)
    result.log_warnings()
    is_changed = result.removed or result.archived
    return result.ended("pruned" if is_changed else "unchanged")


def _kept(store: Path, retention: Retention) -> Pointer:
    if retention.keep_for is not None:
        periods(store)  # a damaged time must not decide which generations go
    return retention.kept(pointer.read_existing(store))


def plan(store: Path, retention: Retention, kept: Pointer) -> StoreResult:
    """Return what ``prune`` does to keep these generations; nothing is changed.

    Unpublished ones are removed too.
    """
    names, folders = [entry.generation for entry in kept.published], retention.folders(kept)
    others = [name for name in archived.generations_in(store) if name not in names]
    older = (name for name in names if name not in folders)
    unpacked = [name for name in older if pointer.is_unpacked(store, name)]
    return StoreResult(str(store), removed=others, archived=unpacked)


def prune_after(store: Path, retention: Retention, result: StoreResult) -> None:
    """Prune a store after a publication: that has succeeded, so a failure is only a warning."""
    try:
        _prune(store, retention, result)
    except (DatasetError, OutputError) as error:
        result.warnings.append(f"old generations are not all removed: {error}")


def _prune(store: Path, retention: Retention, result: StoreResult) -> None:
    """Prune a store; raises DatasetError without a store, OutputError if it cannot be written."""
    with result.step("prune"), changing(store):
        kept = _kept(store, retention)
        planned = plan(store, retention, kept)
        result.removed = planned.removed
        _write_pointer(store, kept, result.removed)
        for name in result.removed:
            archived.remove(store, name)
        result.warnings += update_changes(store, kept)
        for name in planned.archived:
            try:
                archived.archive(store, name)
                result.archived.append(name)
            except (DatasetError, OutputError) as error:
                problem = f"generation {short_id(name)} does not become an archive"
                result.warnings.append(f"{problem}: {error}")


def _write_pointer(store: Path, kept: Pointer, removed: Collection[str]) -> None:
    """Write the pointer before the removal: it never lists a missing generation.

    If the disk is too full for it, generations to remove are removed first, one by one. The current
    one stays, and so does the one before it unless only one is kept.
    """
    for name in removed:
        try:
            pointer.save(store, kept)
        except OutputError as error:
            if getattr(error.__cause__, "errno", None) not in (errno.ENOSPC, errno.EDQUOT):
                raise
            archived.remove(store, name)
    pointer.save(store, kept)


def update_changes(store: Path, kept: Pointer) -> list[str]:
    """Write the missing files of changes, remove others; return a warning for each failure.

    Each is of two kept generations that were in force one after the other. The caller holds the
    lock of the store.
    """
    # A, B (removed), B, C, A: A and C, C and A.
    names = {entry.generation for entry in kept.published}
    known = pairwise(item.generation for item in kept.changes if item.generation in names)
    paths = {
        Path(pointer.changes_of(store, old, new)): (old, new) for old, new in known if old != new
    }
    warnings = []
    for path, pair in paths.items():
        try:
            if not path.is_file():
                from geolookup.history.change_files import write_changes  # imports Arrow: slow

                path.parent.mkdir(FOLDER_MODE, exist_ok=True)
                old, new = (archived.unpacked(store, generation) for generation in pair)
                write_changes(old, new, path)
        except (DatasetError, OutputError, OSError, MemoryError) as error:
            both = " and ".join(map(short_id, pair))
            warnings.append(f"the changes between generations {both} are not written: {error}")
    for path in (store / pointer.CHANGES).glob(pointer.CHANGES_PATTERN):
        if path not in paths:
            path.unlink(missing_ok=True)
    return warnings
