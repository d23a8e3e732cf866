"""``prune``: older generations of a store become archives, those before them are removed.

Strategy: the pointer is written before a generation is removed. Then the changes between the
remaining generations are written, while both are at hand. Then each older folder becomes an
archive, and goes after that is checked. A process that dies at any step leaves each kept generation
whole, and the next call finishes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Sequence
from datetime import timedelta
from logging import getLogger
from pathlib import Path
from statistics import fmean

from geolookup.errors import DatasetError, OutputError, short_id
from geolookup.history import archived, changes
from geolookup.history.result import StoreResult
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path
from geolookup.store.in_force import periods
from geolookup.store.pointer import Publication
from geolookup.store.retention import Retention

#: The bytes of a city dataset over those of its archive.
_RATIO = 3
#: Two updates in a minute say nothing about the pace of a year.
_SHORTEST_SPAN = timedelta(days=1)


def prune(
    store: str | os.PathLike[str] | None = None,
    keep: int | None = None,
    *,
    keep_for: timedelta | float | str | None = None,
    keep_unpacked: int | None = None,
    dry_run: bool = False,
) -> StoreResult:
    """Remove old generations of a store, by default the user's; return what was done.

    ``keep`` is the number of generations to keep, the last published; by default 2. Or ``keep_for``
    (a timedelta, a number of days, or "52w", "1y") keeps those that were in force within that time,
    and never fewer than two. The current generation is always kept, and the one before it unless
    ``keep`` is 1. Of the kept ones the last ``keep_unpacked``, by default 2, that are not withdrawn
    stay folders; older ones become archives, STORE/archive. One that cannot become an archive stays
    a folder, with a warning in the result and in the log ``geolookup``. Engines that use a removed
    generation continue to answer, if the system can remove mapped files; Windows cannot: close
    those engines first. ``dry_run``: only the generations that would go, in a result "planned".
    Raises ValueError for both options, a number below 1 and a malformed ``keep_for``, DatasetError
    without a store, OutputError if it cannot be written.
    """
    store = store_path(store)
    retention = Retention.of(keep, keep_for, keep_unpacked)
    result = StoreResult(str(store))
    if dry_run:
        published = pointer.read_existing(store)
        kept = retention.kept(published, pointer.read_changes(store))
        return plan(store, retention, kept).ended("planned")
    with result.step("prune"):
        prune_store(store, retention, result)
    log_warnings(result)
    is_changed = result.removed or result.archived
    return result.ended("pruned" if is_changed else "unchanged")


def plan(store: Path, retention: Retention, kept: Sequence[Publication]) -> StoreResult:
    """Return what ``prune_store`` does to keep these generations; nothing is changed."""
    removed, older = _to_change(store, retention, kept)
    size = _expected_bytes(store, retention)
    return StoreResult(str(store), removed=removed, archived=older, expected_bytes=size)


def _to_change(
    store: Path, retention: Retention, kept: Sequence[Publication]
) -> tuple[list[str], list[str]]:
    """Return the generations to remove, also unpublished ones, and those to archive."""
    names, folders = {entry.generation for entry in kept}, retention.folders(kept)
    others = [name for name in archived.generations_in(store) if name not in names]
    older = [entry.generation for entry in kept if entry.generation not in folders]
    return others, [name for name in older if pointer.is_unpacked(store, name)]


def _expected_bytes(store: Path, retention: Retention) -> int | None:
    """Return what the generations of ``keep_for`` will take at the pace of those so far.

    None without ``keep_for``, before the generations span a day, and if the current one is damaged.
    """
    current = pointer.current_of(store)
    if retention.keep_for is None or current is None:
        return None
    begins = [period.begin for period in periods(store)]
    span = timedelta(seconds=begins[-1] - begins[0])
    if span < _SHORTEST_SPAN:
        return None
    count = max(retention.keep_for / span * (len(begins) - 1), 1.0)
    try:
        folder = archived.manifest_of(store, current).metadata().bytes
    except DatasetError:  # what is pruned does not depend on it
        return None
    archives, changed = (
        [path.stat().st_size for path in (store / kind).glob("[!.]*")]
        for kind in (pointer.ARCHIVE, pointer.CHANGES)
    )
    folders = min(count, retention.unpacked)
    size = folders * folder + (count - folders) * (fmean(archives or [folder / _RATIO]))
    return round(size + (count * fmean(changed) if changed else 0))


def prune_after(store: Path, retention: Retention, result: StoreResult) -> None:
    """Prune a store after a publication: that has succeeded, so a failure is only a warning."""
    try:
        prune_store(store, retention, result)
    except (DatasetError, OutputError) as error:
        result.warnings.append(f"old generations are not all removed: {error}")


def log_warnings(result: StoreResult) -> None:
    """Write the failures to the log ``geolookup``."""
    for warning in result.warnings:
        getLogger("geolookup").warning("%s", warning)


def prune_store(store: Path, retention: Retention, result: StoreResult) -> None:
    """Prune a store; raises DatasetError without a store, OutputError if it cannot be written."""
    with changing(store) as published:
        if retention.keep_for is not None:
            periods(store)  # a damaged time must not decide which generations go
        kept = retention.kept(published, pointer.read_changes(store))
        names = [entry.generation for entry in kept]
        result.removed, older = _to_change(store, retention, kept)
        if len(kept) < len(published):
            _write_pointer(store, kept, result.removed)
        for name in result.removed:
            archived.remove(store, name)
        result.warnings += changes.write_missing(store, names)
        changes.remove_others(store, names)
        for name in older:
            try:
                archived.archive(store, name)
                result.archived.append(name)
            except (DatasetError, OutputError) as error:
                problem = f"generation {short_id(name)} does not become an archive"
                result.warnings.append(f"{problem}: {error}")
        result.expected_bytes = _expected_bytes(store, retention)


def _write_pointer(store: Path, kept: Sequence[Publication], removed: Collection[str]) -> None:
    """Write the pointer before the removal: it never lists a missing generation.

    If the disk is too full for it, generations to remove are removed first, one by one. The current
    one stays, and so does the one before it unless only one is kept.
    """
    for name in removed:
        try:
            return pointer.save(store, kept)
        except OutputError as error:
            if not _is_disk_full(error):
                raise
        archived.remove(store, name)
    return pointer.save(store, kept)


def _is_disk_full(error: OutputError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)
