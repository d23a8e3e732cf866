"""Pruning: generations that are not kept leave a store."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from geolookup.filesystem import atomic
from geolookup.store import pointer
from geolookup.store.changing import changing
from geolookup.store.pointer import Published


def prune(store: str | os.PathLike[str], keep: int = 2) -> list[str]:
    """Remove all but the ``keep`` last published generations; return the removed ids.

    The current generation is always kept, and the one before it unless ``keep`` is 1.
    Engines that use a removed generation continue to answer, where the system can remove
    mapped files; Windows cannot: close those engines first. Raises ValueError for a
    ``keep`` below 1, DatasetError if there is no store, OutputError if it cannot be written.
    """
    if keep < 1:
        raise ValueError(f"keep is {keep}; at least the current generation is kept")
    store = Path(store)
    with changing(store) as published:
        kept = _kept(published, keep)
        # First, so that the pointer never lists what is not there.
        if len(kept) < len(published):
            pointer.write(store, kept)
        names = {each.generation for each in kept}
        removed = [path for path in _folders(store) if path.name not in names]
        for path in removed:
            _remove(path)
        return [path.name for path in removed]


def _kept(published: list[Published], keep: int) -> list[Published]:
    held = {*published[-keep:], *pointer.standing(published)[-min(keep, 2) :]}
    return [each for each in published if each in held]


def _folders(store: Path) -> list[Path]:
    """Return all generations that are there, those that never came to be published, too."""
    return sorted((store / pointer.GENERATIONS).iterdir())


def _remove(path: Path) -> None:
    """Remove a generation in one step, so that none is ever there in part."""
    aside = Path(tempfile.mkdtemp(prefix=".removed.", dir=path.parent))
    path.rename(aside / path.name)
    atomic.fsync_folder(path.parent)
    shutil.rmtree(aside)
