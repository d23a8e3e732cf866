"""A generation of a store unpacked into the cache, from its archive in the store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.extract import write_files
from geolookup.dataset.files import Dataset
from geolookup.errors import OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.cache import make_room
from geolookup.history.kept_deltas import open_delta
from geolookup.history.unpacked import open_cached


def unpack_into_cache(store: str | os.PathLike[str], generation: str, target: Path) -> Dataset:
    """Unpack a generation of a store into a folder of the cache, and open it.

    One process at a time does so, and none removes the folder before it is open.
    Raises DatasetError if the archive is missing or damaged, OutputError if the cache cannot be
    written.
    """
    with _cache_errors(target.parent), atomic.output_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(target.parent / "lock"):
            if dataset := open_cached(target, generation):  # another process has unpacked it
                return dataset
            with open_delta(Path(store), generation) as (head, members):
                make_room(target.parent, head.manifest.metadata().bytes, {target.name})
                with atomic.staged_folder(target, FOLDER_MODE) as fresh:
                    write_files(head, members, fresh)
            dataset = Dataset(target)
            dataset.map_all()
            return dataset


@contextmanager
def _cache_errors(cache: Path) -> Iterator[None]:
    """Name the cache, and the remedy, if it cannot be written."""
    try:
        yield
    except OutputError as error:
        remedy = "free space there, or name another cache by $GEOLOOKUP_CACHE"
        raise OutputError(cache, error.problem, remedy) from error
