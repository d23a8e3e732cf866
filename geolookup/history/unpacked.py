"""The dataset of any generation that a store keeps: in the store, else unpacked in the cache.

A generation that the store keeps as a delta is unpacked once; later openings map its files::

    CACHE/history/lock                          held by the process that unpacks
    CACHE/history/GENERATION-SIZE-TIME/         a dataset

SIZE and TIME (hexadecimal digits: bytes, and nanoseconds since 1970) are the delta's: if it is
written again, such as with another signature, it is unpacked again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError
from geolookup.filesystem import check_regular
from geolookup.filesystem.cache import default_folder
from geolookup.store import pointer

#: How often a generation is sought: another process may unpack, pack or remove it meanwhile.
_ATTEMPTS = 3


def unpacked(store: str | os.PathLike[str], generation: str) -> Path:
    """Return the folder of a generation of a store, unpacked into the cache if it is a delta.

    Raises DatasetError if the store does not keep the generation, or if the delta or a newer
    generation that it needs is damaged; OutputError if the cache cannot be written;
    SettingsError for a malformed ``$GEOLOOKUP_HISTORY_CACHE``.
    """
    return Path(open_unpacked(store, generation).path)


def open_unpacked(store: str | os.PathLike[str], generation: str) -> Dataset:
    """Open a generation of a store; raises as ``unpacked``."""
    for _ in range(_ATTEMPTS - 1):
        seen = _state(store)
        try:
            return _opened(store, generation)
        except DatasetError:
            # Damage stays; a generation that moved between folder and delta opens now, also a base.
            if _state(store) == seen:
                raise
    return _opened(store, generation)


def _opened(store: str | os.PathLike[str], generation: str) -> Dataset:
    folder = Path(pointer.folder_of(store, generation))
    if folder.is_dir():
        return _named(Dataset(folder), generation)
    cached = cached_folder(store, generation)
    return open_cached(cached, generation) or _made(store, generation, cached)


def _state(store: str | os.PathLike[str]) -> list[object]:
    """Return a value that changes when a generation becomes a delta, or another delta."""
    state: list[object] = []
    for folder in (Path(store, pointer.GENERATIONS), Path(store, pointer.HISTORY)):
        with suppress(OSError):
            state += [folder.stat().st_mtime_ns, sorted(folder.iterdir())]
    return state


def _made(store: str | os.PathLike[str], generation: str, cached: Path) -> Dataset:
    from geolookup.history.chain import unpack_into_cache  # imports Arrow: slow

    return unpack_into_cache(store, generation, cached)


def cached_folder(store: str | os.PathLike[str], generation: str) -> Path:
    """Return the folder in the cache of a generation that is a delta; DatasetError if it is not."""
    delta = pointer.delta_of(store, generation)
    try:
        status = check_regular(delta)
    except (FileNotFoundError, NotADirectoryError):
        problem = f"generation {generation} is no longer kept"
        remedy = "name a later date, or publish it again; 'keep_for' keeps older generations"
        raise DatasetError(store, problem, remedy) from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise DatasetError(delta, problem, "check its permissions") from error
    name = f"{generation}-{status.st_size:x}-{status.st_mtime_ns:x}"
    return default_folder() / "history" / name


def open_cached(folder: Path, generation: str) -> Dataset | None:
    """Open a generation in the cache, and mark it as used; None if it is missing or damaged."""
    try:
        dataset = _named(Dataset(folder), generation)
        dataset.map_all()  # the bound of the cache may remove it
    except DatasetError:
        return None
    with suppress(OSError):  # a cache of another user
        os.utime(folder)
    return dataset


def _named(dataset: Dataset, generation: str) -> Dataset:
    """Return a dataset of this generation; DatasetError for another one."""
    if dataset.generation != generation:
        problem = f"its generation is {dataset.generation}, but {generation} is expected"
        raise DatasetError(dataset.path, problem, "publish it again")
    return dataset
