"""A generation unpacked into the cache, along the deltas from a newer one that is unpacked.

Each delta makes a generation of its successor. So the walk goes from the nearest newer generation
that is a folder, in the store or the cache, back to the one that is wanted. Example: C is a folder,
B is a delta to C, A is one to B. A is C with the deltas of B and of A applied.

Strategy: the start is compared with its digests, and each file that a delta makes, too. Only the
result is synced, and verified whole. All is made in a staging directory beside the result: a
process that dies leaves nothing that has the name of a generation.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.extract import write_files
from geolookup.archives.unpack import check_stated
from geolookup.dataset.checksums import wrong_files
from geolookup.dataset.files import Dataset
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.locks import hold_lock
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.history.cache import make_room
from geolookup.history.kept_deltas import (
    RESTORE,
    base_of,
    delta_path,
    head_of,
    open_delta,
    restorable,
)
from geolookup.history.unpacked import cached_folder, open_cached
from geolookup.integrity import VerifiedDataset
from geolookup.store import pointer


def unpack_into_cache(store: str | os.PathLike[str], generation: str, target: Path) -> Dataset:
    """Unpack a generation of a store into a folder of the cache, and open it.

    One process at a time does so, and none removes the folder before it is open.
    Raises DatasetError if a delta is missing or damaged, or the generation that the first one
    needs; OutputError if the cache cannot be written.
    """
    with _cache_errors(target.parent), atomic.output_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(target.parent / "lock"):
            if dataset := open_cached(target, generation):  # another process has unpacked it
                return dataset
            base, generations = _chain(Path(store), generation)
            needed = head_of(Path(store), generation).manifest.metadata().bytes
            make_room(target.parent, needed, {base.name, target.name})
            with atomic.staged_folder(target, FOLDER_MODE) as fresh:
                _walk(Path(store), base, generations, fresh)
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


def _chain(store: Path, generation: str) -> tuple[Path, list[str]]:
    """Return the nearest newer generation that is unpacked, and those to make of it, in order.

    The bytes of that generation are as its manifest says.
    """
    generations: list[str] = []
    while (base := _undamaged_folder(store, generation)) is None:
        if generation in generations:
            path = delta_path(store, generation)
            raise DatasetError(path, "it needs itself, by its base", RESTORE)
        generations.insert(0, generation)
        generation = base_of(store, generation)
    return base, generations


def _undamaged_folder(store: Path, generation: str) -> Path | None:
    """Return the folder of a generation, None if it is not unpacked.

    A damaged one in the cache does not count; one in the store raises DatasetError.
    """
    folder = Path(pointer.folder_of(store, generation))
    if folder.is_dir():
        for path, problem in wrong_files(folder, read_manifest(folder)):
            problem = f"{problem}; older generations are kept as changes to it"
            raise DatasetError(path, problem, "restore it, or publish the dataset again")
        return folder
    cached = cached_folder(store, generation)
    dataset = open_cached(cached, generation)
    if dataset is None or any(wrong_files(cached, dataset.manifest)):
        return None
    return cached


def _walk(store: Path, base: Path, generations: list[str], fresh: Path) -> None:
    """Apply deltas, one after the other, and write the last result to an empty folder."""
    for number, generation in enumerate(generations, 1):
        is_last = number == len(generations)
        folder = fresh if is_last else fresh / f"{number}"
        folder.mkdir(exist_ok=is_last)
        _apply(store, generation, base, folder, durable=is_last)
        if number > 1:
            shutil.rmtree(base)
        base = folder
    last = delta_path(store, generations[-1])
    with restorable(last):
        VerifiedDataset(fresh, lambda name: f"{last}!{name}")


def _apply(store: Path, generation: str, base: Path, folder: Path, *, durable: bool) -> None:
    with open_delta(store, generation) as (head, header, members):
        check_stated(base, read_manifest(base), header, members.archive, RESTORE)
        with atomic.output_errors(folder):  # else the delta would be named as unreadable
            write_files(head, members, folder, base, durable=durable)
