"""The dataset of any generation that a store keeps: its folder, else its archive in the cache.

An archive is unpacked once; later openings map its files::

    CACHE/datasets/past-GENERATION-SIZE-TIME/    a dataset

GENERATION are the first digits of the id. SIZE and TIME (hexadecimal digits: bytes, and nanoseconds
since 1970) are the archive's: if it is written again, such as with another signature, it is
unpacked again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem import check_regular
from geolookup.filesystem.cache import open_cached
from geolookup.store import pointer
from geolookup.store.cached import open_entry
from geolookup.store.resolve import retry_if_changed

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from geolookup.archives.head import Head
    from geolookup.archives.members import Members

_DIGITS = 32
Check = Callable[[Dataset], None]


def unpacked(store: str | os.PathLike[str], generation: str) -> Path:
    """Return the folder of a generation of a store, unpacked into the cache if it is an archive.

    Raises DatasetError if the store does not keep the generation, or if it is damaged; OutputError
    if the cache cannot be written; SettingsError for a malformed ``$GEOLOOKUP_CACHE_SIZE``.
    """
    return Path(open_unpacked(store, generation).path)


def open_unpacked(
    store: str | os.PathLike[str], generation: str, check: Check | None = None
) -> Dataset:
    """Open a generation of a store; raises as ``unpacked`` and as ``check``.

    ``check`` compares signature and digests, where keys are trusted. A dataset in the cache that
    does not pass it, or that others may change, is unpacked again.
    """
    # Damage stays; a generation that moves between folder and archive opens in the next attempt.
    read = partial(_open, store, generation, check)
    return retry_if_changed(read, partial(_places, store, generation))


def _places(store: str | os.PathLike[str], generation: str) -> tuple[bool, str]:
    """Return a value that changes when a generation becomes an archive, or a folder again."""
    try:
        name = _cache_name(store, generation)
    except DatasetError:
        name = ""
    return pointer.is_unpacked(store, generation), name


def _open(store: str | os.PathLike[str], generation: str, check: Check | None) -> Dataset:
    folder = Path(pointer.folder_of(store, generation))
    if folder.is_dir():
        return _open_folder(generation, check, folder)
    find = partial(open_entry, check=check, generation=generation)
    make = partial(_unpack, Path(store), generation, check)
    return open_cached(_cache_name(store, generation), find, make)


def _cache_name(store: str | os.PathLike[str], generation: str) -> str:
    """Return the name in the cache of an archived generation; DatasetError without an archive."""
    archive = pointer.archive_of(store, generation)
    try:
        status = check_regular(archive)
    except (FileNotFoundError, NotADirectoryError):
        problem = f"generation {short_id(generation)} is no longer kept"
        remedy = "name a later date, or publish it again; 'keep_for' keeps older generations"
        raise DatasetError(store, problem, remedy) from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise DatasetError(archive, problem, "check its permissions") from error
    return f"past-{generation[:_DIGITS]}-{size_and_time(status)}"


def size_and_time(status: os.stat_result) -> str:
    """Return the end of the name of an unpacked archive."""
    return f"{status.st_size:x}-{status.st_mtime_ns:x}"


def _open_folder(generation: str, check: Check | None, folder: Path) -> Dataset:
    """Open a dataset of this generation that passes a check; DatasetError for another one."""
    dataset = Dataset(folder)
    if dataset.generation != generation:
        actual, expected = map(short_id, (dataset.generation, generation))
        problem = f"its generation is {actual}, but {expected} is expected"
        raise DatasetError(dataset.path, problem, "publish it again")
    if check is not None:
        check(dataset)
    return dataset


def _unpack(store: Path, generation: str, check: Check | None, folder: Path) -> None:
    from geolookup.history.archived import open_archived

    with open_archived(store, generation) as (head, members):
        unpack_entry(head, members, check, folder)


def unpack_entry(head: Head, members: Members, check: Check | None, folder: Path) -> None:
    """Unpack an archive into a folder of the cache, each file compared with its digest."""
    from geolookup.archives.extract import write_files  # imports Arrow: slow
    from geolookup.filesystem import atomic
    from geolookup.filesystem.ownership import FOLDER_MODE

    with atomic.staged_folder(folder, FOLDER_MODE) as fresh:
        write_files(head, members, fresh)
        if check is not None:
            try:
                check(Dataset(fresh))
            except DatasetError as error:  # the folder goes, the archive stays
                raise DatasetError(members.archive, error.problem, error.remedy) from error
