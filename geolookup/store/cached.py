"""Datasets in the cache: with trusted keys, what answers is what was checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError
from geolookup.filesystem.cache import is_safe


def open_entry(
    folder: Path, check: Callable[[Dataset], None] | None, generation: str | None = None
) -> Dataset | None:
    """Open a dataset in the cache; None if it is missing or damaged: it must be made again.

    With a check, as with trusted keys, also None if it does not pass or if another user can change
    it. With ``generation``, also None if it is another one. All files are mapped: the cache may
    evict them. Raises OutputError if others can change the cache itself.
    """
    if check is not None and not is_safe(folder):
        return None
    try:
        dataset = Dataset(folder)
        dataset.map_all()
        if check is not None:
            check(dataset)
    except DatasetError:
        return None
    return dataset if generation in (None, dataset.generation) else None
