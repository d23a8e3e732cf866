"""The generations that a store keeps as archives: written, read, and unpacked into the store again.

Strategy: an archive has the whole dataset and its signature, and needs no other generation. A
generation that has both a folder and an archive counts as unpacked: a process died between the two,
or it became current again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.archives.members import Members
from geolookup.dataset.manifest import Manifest, is_generation, read_manifest
from geolookup.errors import DatasetError, short_id
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE
from geolookup.store import pointer

RESTORE = "restore it from a backup, or 'geolookup publish --since DATE' the dataset again"


@contextmanager
def open_archived(store: str | Path, generation: str) -> Iterator[tuple[Head, Members]]:
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


def manifest_of(store: Path, generation: str) -> Manifest:
    """Return the manifest of a kept generation; DatasetError for a damaged one."""
    if pointer.is_unpacked(store, generation):
        return read_manifest(pointer.folder_of(store, generation))
    with open_archived(store, generation) as (head, _):
        return head.manifest


def archive(store: Path, generation: str) -> None:
    """Replace the folder of a generation by an archive, after all digests in it are checked.

    Raises DatasetError for a damaged dataset, OutputError if the archive cannot be written; the
    folder then stays.
    """
    from geolookup.archives.extract import check_files  # imports Arrow: slow
    from geolookup.archives.pack import write_archive

    path, folder = (Path(of(store, generation)) for of in (pointer.archive_of, pointer.folder_of))
    with atomic.output_errors(path):
        path.parent.mkdir(FOLDER_MODE, exist_ok=True)
        with atomic.staged_file(path, FILE_MODE) as fresh:
            write_archive(fresh, folder)
            with open_archive(fresh) as (head, members):
                check_files(head, members)
    remove_folder(store, generation)


def restore(store: Path, generation: str) -> Path:
    """Return the folder of a generation, unpacked into the store and verified if it is an archive.

    Raises DatasetError for a damaged archive, OutputError if the store cannot be written.
    """
    from geolookup.archives.extract import extract  # imports Arrow: slow

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
    archives = (path.name.removesuffix(pointer.SUFFIX) for path in _paths(store / pointer.ARCHIVE))
    folders = (path.name for path in _paths(store / pointer.GENERATIONS))
    return sorted({*filter(is_generation, folders), *filter(is_generation, archives)})


def _paths(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def remove(store: Path, generation: str) -> None:
    """Remove a generation, as a folder and as an archive."""
    remove_folder(store, generation)
    remove_archive(store, generation)


def remove_folder(store: Path, generation: str) -> None:
    """Remove the folder of a generation, if it exists."""
    with suppress(FileNotFoundError):
        atomic.remove_folder(Path(pointer.folder_of(store, generation)))


def remove_archive(store: Path, generation: str) -> None:
    """Remove the archive of a generation, if it exists."""
    Path(pointer.archive_of(store, generation)).unlink(missing_ok=True)
