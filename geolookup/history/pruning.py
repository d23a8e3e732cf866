"""``prune``: the older generations of a store become deltas, those before them are removed.

Strategy: a generation is removed if neither the retention keeps it nor a kept delta needs it. The
pointer is written before that. Then each kept generation but the newest becomes a delta, the oldest
first: its folder goes after its delta is checked. A process that dies at any step leaves each kept
generation whole, and the next call finishes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from logging import getLogger
from pathlib import Path

from geolookup.dataset.manifest import is_generation
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import atomic
from geolookup.history import changes, kept_deltas
from geolookup.store import pointer
from geolookup.store.changing import changing, store_path
from geolookup.store.pointer import Publication
from geolookup.store.retention import Retention


@dataclass(slots=True)
class PruneResult:
    """The outcome: the generations that were removed, or became deltas, and failures."""

    removed: list[str] = field(default_factory=list)
    packed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def prune(
    store: str | os.PathLike[str] | None = None,
    keep: int | None = None,
    *,
    keep_for: timedelta | float | str | None = None,
) -> list[str]:
    """Remove old generations from a store, by default the user's; return the removed ids.

    ``keep`` is the number of generations to keep, the last published; by default 2. Or ``keep_for``
    (a timedelta, a number of days, or "52w", "1y") keeps those that were in force within that time,
    and never fewer than two. The current generation is always kept, and the one before it unless
    ``keep`` is 1. With a ``keep`` above 2 or with ``keep_for``, the last two stay unpacked. Older
    ones become deltas to their successor, in STORE/history. A generation that cannot become a delta
    stays unpacked, with a warning in the log ``geolookup``. Engines that use a removed generation
    continue to answer, if the system can remove mapped files; Windows cannot: close those engines
    first. Raises ValueError for both options, a ``keep`` below 1 and a malformed ``keep_for``,
    DatasetError without a store, OutputError if it cannot be written.
    """
    pruned = prune_store(store_path(store), Retention.of(keep, keep_for))
    log_warnings(pruned)
    return pruned.removed


def prune_after(store: Path, retention: Retention) -> PruneResult:
    """Prune a store after a publication: that has succeeded, so a failure is only a warning."""
    try:
        pruned = prune_store(store, retention)
    except OutputError as error:
        pruned = PruneResult(warnings=[f"old generations are not all removed: {error}"])
    return pruned


def log_warnings(pruned: PruneResult) -> None:
    """Write the failures to the log ``geolookup``."""
    for warning in pruned.warnings:
        getLogger("geolookup").warning("%s", warning)


def prune_store(store: Path, retention: Retention) -> PruneResult:
    """Prune a store; raises DatasetError without a store, OutputError if it cannot be written."""
    with changing(store) as published:
        kept = retention.kept(published, pointer.read_changes(store))
        pruned = PruneResult()
        pruned.removed += _remove_others(store, published, kept)
        _keep_as_deltas(store, kept, retention.unpacked(kept), pruned)
        # Generations that only a former delta needed.
        pruned.removed += _remove_others(store, pointer.read(store), kept)
    return pruned


def _remove_others(
    store: Path, published: Sequence[Publication], kept: Sequence[Publication]
) -> list[str]:
    """Remove the generations that are neither kept nor the base of a kept delta."""
    needed = {*_with_bases(store, [entry.generation for entry in kept])}
    removed = [name for name in _generations(store) if name not in needed]
    remaining = [entry for entry in published if entry.generation in needed]
    if len(remaining) < len(published):
        _write_pointer(store, remaining, removed)
    for name in removed:
        _remove(store, name)
    return removed


def _with_bases(store: Path, kept: Collection[str]) -> Iterator[str]:
    """Yield the kept generations, and those through which their deltas lead to an unpacked one."""
    seen = set(kept)
    yield from kept
    for name in kept:
        while pointer.is_delta(store, name):
            try:
                name = kept_deltas.base_of(store, name)
            except DatasetError:  # damaged: nothing can be made of it
                break
            if name in seen:
                break
            seen.add(name)
            yield name


def _generations(store: Path) -> list[str]:
    """Return all generations, also unpublished ones; other names are not ours."""
    folders = (path.name for path in (store / pointer.GENERATIONS).iterdir())
    return sorted({*filter(is_generation, folders), *kept_deltas.delta_generations(store)})


def _write_pointer(store: Path, remaining: list[Publication], removed: list[str]) -> None:
    """Write the pointer before the removal: it never lists a missing generation.

    If the disk is too full for it, generations that go anyway are removed first, one by one. The
    current one stays, and so does the previous one unless only one shall remain.
    """
    for name in removed:
        try:
            return pointer.write(store, remaining)
        except OutputError as error:
            if not _is_disk_full(error):
                raise
        _remove(store, name)
    return pointer.write(store, remaining)


def _is_disk_full(error: OutputError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)


def _keep_as_deltas(
    store: Path, kept: Sequence[Publication], unpacked: Sequence[Publication], pruned: PruneResult
) -> None:
    """Write the files of changes while generations are unpacked, then the deltas."""
    names = [entry.generation for entry in kept]
    pruned.warnings += changes.write_missing(store, names)
    changes.remove_others(store, names)
    _pack_older(store, kept, unpacked, pruned)


def _pack_older(
    store: Path, kept: Sequence[Publication], unpacked: Collection[Publication], pruned: PruneResult
) -> None:
    """Make a delta of each kept generation that does not stay unpacked, the oldest first."""
    names = {entry.generation for entry in kept}
    for entry, successor in pairwise(kept):
        name = entry.generation
        if entry in unpacked:
            if pointer.is_unpacked(store, name):
                kept_deltas.remove(store, name)
            continue
        try:
            if _needs_delta(store, name, successor.generation, names):
                _pack(store, name, successor.generation)
                pruned.packed.append(name)
        except (DatasetError, OutputError, OSError) as error:
            pruned.warnings.append(f"generation {name} is not kept as a delta: {error}")


def _needs_delta(store: Path, generation: str, successor: str, kept: Collection[str]) -> bool:
    """Return whether a delta is to be written: for a folder, and if the base has to be another.

    A delta to a generation that goes is replaced, and one to a generation after the successor, if
    that is unpacked: ``publish --since`` has put it between them.
    """
    if not pointer.is_delta(store, generation):
        return True
    base = kept_deltas.base_of(store, generation)
    return base not in kept or (base != successor and pointer.is_unpacked(store, successor))


def _pack(store: Path, generation: str, successor: str) -> None:
    folders = (kept_deltas.dataset_folder(store, name) for name in (generation, successor))
    kept_deltas.write(store, generation, *folders)
    _remove_folder(store, generation)


def _remove(store: Path, generation: str) -> None:
    """Remove a generation, unpacked or kept as a delta."""
    _remove_folder(store, generation)
    kept_deltas.remove(store, generation)


def _remove_folder(store: Path, generation: str) -> None:
    with suppress(FileNotFoundError):  # a delta, or removed to make room for the pointer
        atomic.remove_folder(Path(pointer.folder_of(store, generation)))
