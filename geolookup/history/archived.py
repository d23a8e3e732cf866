"""The archives of a store and of ``pack``: written, read, and opened as datasets.

Strategy: an archive has the whole dataset and its signature, and needs no other generation. A
generation that has both a folder and an archive counts as unpacked: a process died between the two,
or it became current again.

To be opened an archive is unpacked once; later openings map its files::

    CACHE/datasets/archive-PATH-STATE/    a dataset

PATH is a digest of the archive's path, STATE of its fingerprint: if it is written again, such as
with another signature, it is unpacked again, also if its size and time are the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path

from geolookup.archives.head import Head, is_archive, open_archive, read_head
from geolookup.archives.members import Members
from geolookup.dataset.files import Dataset
from geolookup.dataset.manifest import is_generation
from geolookup.engine.compiled import CompiledPath
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem import ReadErrors, atomic, check_regular, opener
from geolookup.filesystem.cache import entries_folder, open_cached
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE
from geolookup.store import pointer
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import (
    DatasetPath,
    file_fingerprint,
    open_entry,
    open_folder,
    retry_if_changed,
)

Check = Callable[[Dataset], None]
OpenedArchive = AbstractContextManager[tuple[Head, Members]]
RESTORE = "restore it from a backup, or 'geolookup store publish --since DATE' the dataset again"
_DIGITS = 32
#: The first bytes of a frame (RFC 8878, 3.1.1).
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


@contextmanager
def open_archived(store: str | os.PathLike[str], generation: str) -> Iterator[tuple[Head, Members]]:
    """Yield the head and the other members of a generation's archive.

    Raises DatasetError if it is missing or damaged, or has another generation.
    """
    path = Path(pointer.archive_of(store, generation))
    try:
        with open_archive(path) as (head, members):
            _check_generation(head, generation, path)
            yield head, members
    except DatasetError as error:
        # It was never fetched, so "fetch it again" would not help.
        if str(error.path).startswith(str(path)):
            raise DatasetError(error.path, error.problem, RESTORE) from error
        raise


def _check_generation(head: Head, generation: str, path: Path) -> None:
    actual = head.manifest.generation
    if actual != generation:
        raise DatasetError(path, f"its generation is {short_id(actual)}, unlike its name", RESTORE)


def head_of(store: Path, generation: str) -> Head:
    """Return the head of a kept generation; DatasetError for a damaged one."""
    if pointer.is_unpacked(store, generation):
        return read_head(Path(pointer.folder_of(store, generation)))
    with open_archived(store, generation) as (head, _):
        return head


def archive(store: Path, generation: str) -> None:
    """Replace the folder of a generation by an archive, after all digests in it are checked.

    Raises DatasetError for a damaged dataset, OutputError if the archive cannot be written; the
    folder then stays.
    """
    from geolookup.archives.pack import write_archive
    from geolookup.archives.unpack import check_files  # imports Arrow: slow

    path, folder = (Path(of(store, generation)) for of in (pointer.archive_of, pointer.folder_of))
    with atomic.output_errors(path):
        path.parent.mkdir(FOLDER_MODE, exist_ok=True)
        with atomic.staged_file(path, FILE_MODE) as fresh:
            write_archive(fresh, folder, read_head(folder))
            with open_archive(fresh) as (head, members):
                check_files(head, members)
    _remove_folder(store, generation)


def restore(store: Path, generation: str) -> Path:
    """Return the folder of a generation, unpacked into the store and verified if it is an archive.

    Raises DatasetError for a damaged archive, OutputError if the store cannot be written.
    """
    from geolookup.archives.unpack import extract  # imports Arrow: slow

    folder = Path(pointer.folder_of(store, generation))
    if not folder.is_dir():
        with (
            open_archived(store, generation) as (head, members),
            atomic.staged_folder(folder, FOLDER_MODE) as fresh,
        ):
            extract(head, members, fresh)
    remove_archive(store, generation)
    return folder


def generations_in(store: Path) -> list[str]:
    """Return all generations of a store, also unpublished ones; other names are not ours."""
    paths = [*(store / pointer.GENERATIONS).glob("*"), *(store / pointer.ARCHIVE).glob("*")]
    return sorted(
        {*filter(is_generation, (path.name.removesuffix(pointer.SUFFIX) for path in paths))}
    )


def remove(store: Path, generation: str) -> None:
    """Remove a generation, as a folder and as an archive, if it exists."""
    _remove_folder(store, generation)
    remove_archive(store, generation)


def _remove_folder(store: Path, generation: str) -> None:
    with suppress(FileNotFoundError):
        atomic.remove_folder(Path(pointer.folder_of(store, generation)))


def remove_archive(store: Path, generation: str) -> None:
    """Remove the archive of a generation, if it exists."""
    Path(pointer.archive_of(store, generation)).unlink(missing_ok=True)


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
    archive = pointer.archive_of(store, generation)

    def read() -> Dataset:
        if pointer.is_unpacked(store, generation):
            dataset = open_folder(store, generation)
            if check is not None:
                check(dataset)
            return dataset
        if not os.path.lexists(archive):
            problem = f"generation {short_id(generation)} is no longer kept"
            remedy = "name a later date, or publish it again; 'keep_for' keeps older generations"
            raise DatasetError(store, problem, remedy)
        opened = partial(open_archived, store, generation)
        return _open_in_cache(archive, opened, check, generation)

    # Damage stays; a generation that moves between folder and archive opens in the next attempt.
    return retry_if_changed(
        read, lambda: (pointer.is_unpacked(store, generation), file_fingerprint(archive))
    )


def open_archive_file(path: str, check: Check | None) -> Dataset:
    """Open the dataset of an archive of ``pack``; raises as ``open_unpacked``."""
    return _open_in_cache(path, partial(open_archive, Path(path)), check)


def _open_in_cache(
    archive: str,
    opened: Callable[[], OpenedArchive],
    check: Check | None,
    generation: str | None = None,
) -> Dataset:
    """Open the dataset of an archive in the cache, unpacked if it is not or fails the check."""

    def unpack(folder: Path) -> None:
        from geolookup.archives.unpack import write_files  # imports Arrow: slow

        with opened() as (head, members), atomic.staged_folder(folder, FOLDER_MODE) as fresh:
            write_files(head, members, fresh)
            if _cache_name(archive) != folder.name:
                raise DatasetError(archive, "changed while it was unpacked", "try again")
            if check is not None:
                try:
                    check(Dataset(fresh))
                except DatasetError as error:  # the folder goes, the archive stays
                    raise DatasetError(archive, error.problem, error.remedy) from error

    find = partial(open_entry, check=check, generation=generation)
    return open_cached(_cache_name(archive), find, unpack)


def _cache_name(archive: str) -> str:
    """Return the name in the cache of the dataset of an archive; DatasetError if it is no file."""
    with ReadErrors(archive):
        check_regular(archive)
    path, state = os.fsencode(Path(archive).absolute()), repr(file_fingerprint(archive)).encode()
    digests = (hashlib.sha256(part).hexdigest()[:_DIGITS] for part in (path, state))
    return "-".join(("archive", *digests))


def of_file(path: str, requirements: Requirements) -> DatasetPath | CompiledPath:
    """Return the location of a file: an archive, or data or a recipe to compile.

    To look into an archive imports Arrow: not for data, nor for an archive that was unpacked.
    """
    with suppress(OSError), open(path, "rb", opener=opener) as file:
        if file.read(len(_ZSTANDARD)) == _ZSTANDARD and (
            (entries_folder() / _cache_name(path)).is_dir() or is_archive(path)
        ):
            return DatasetPath(path, requirements)
    return CompiledPath(path, requirements)
