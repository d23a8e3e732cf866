"""The older generations of a store: each is an archive.

::

    STORE/history/GENERATION.tar.zst    the whole dataset, with its signature

A generation that has a folder too counts as unpacked: a process died before it removed the folder,
or the generation became current again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.archives.members import AGAIN, Members
from geolookup.archives.pack import write_archive
from geolookup.dataset.manifest import Manifest, is_generation, read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FILE_MODE, FOLDER_MODE
from geolookup.history.unpacked import unpacked
from geolookup.store import pointer
from geolookup.store.incoming import from_folder
from geolookup.store.signatures import manifest_text

#: The remedy for a damaged delta.
RESTORE = "restore it from a backup, or 'geolookup publish --since DATE' the dataset again"


def delta_path(store: Path, generation: str) -> Path:
    """Return the file of the delta of a generation, existing or not."""
    return Path(pointer.delta_of(store, generation))


def delta_generations(store: Path) -> list[str]:
    """Return the generations of all deltas, also of unpublished ones; other names are not ours."""
    names = (path.name.removesuffix(pointer.DELTA_SUFFIX) for path in _history(store))
    return sorted(filter(is_generation, names))


def _history(store: Path) -> list[Path]:
    try:
        return list((store / pointer.HISTORY).iterdir())
    except FileNotFoundError:
        return []


def manifest_of(store: Path, generation: str) -> Manifest:
    """Return the manifest of a generation, unpacked or a delta; DatasetError for a damaged one."""
    if pointer.is_delta(store, generation):
        return head_of(store, generation).manifest
    return read_manifest(pointer.folder_of(store, generation))


@contextmanager
def open_delta(store: Path, generation: str) -> Iterator[tuple[Head, Members]]:
    """Yield the manifest and signature of a kept archive, and its other members.

    Raises DatasetError for a damaged delta and for another archive.
    """
    path = delta_path(store, generation)
    with restorable(path), open_archive(path) as (head, members):
        if head.manifest.generation != generation:
            problem = f"its generation is {head.manifest.generation}, unlike its name"
            raise DatasetError(path, problem, RESTORE)
        yield head, members


@contextmanager
def restorable(delta: Path) -> Iterator[None]:
    """Name the remedy for a damaged delta of a store: it was never fetched."""
    try:
        yield
    except DatasetError as error:
        if error.remedy != AGAIN and not str(error.path).startswith(f"{delta}!"):
            raise
        raise DatasetError(error.path, error.problem, RESTORE) from error


def head_of(store: Path, generation: str) -> Head:
    """Return the head of a delta: its manifest and signature; DatasetError for a damaged one."""
    with open_delta(store, generation) as (head, _):
        return head


def write(store: Path, generation: str, folder: Path) -> int:
    """Write the archive of a generation from its folder; return its size in bytes.

    An existing
    archive is replaced, in one rename. Raises DatasetError for a damaged dataset, OutputError for a
    file that cannot be written; nothing has changed then.
    """
    path = delta_path(store, generation)
    with atomic.output_errors(path):
        path.parent.mkdir(FOLDER_MODE, exist_ok=True)
        with atomic.staged_file(path, FILE_MODE) as fresh:
            write_archive(fresh, folder)
        return path.stat().st_size


def remove(store: Path, generation: str) -> None:
    """Remove the delta of a generation, if it exists."""
    delta_path(store, generation).unlink(missing_ok=True)


def dataset_folder(store: Path, generation: str) -> Path:
    """Return a folder with the bytes of a generation; of a delta, one in the cache.

    Raises the errors of ``unpacked``.
    """
    folder = unpacked(store, generation)
    # Deltas are made of bytes: equal values do not suffice.
    if pointer.is_delta(store, generation) and manifest_text(folder) != _text(store, generation):
        raise DatasetError(folder, f"not the bytes of generation {generation}", "remove it")
    return folder


def _text(store: Path, generation: str) -> bytes:
    return head_of(store, generation).manifest_text


def restore(store: Path, generation: str) -> None:
    """Unpack a generation into the store, if it is a delta; the delta is removed then.

    Raises the errors of ``unpacked``, and OutputError if the store cannot be written.
    """
    if not pointer.is_delta(store, generation):
        return
    source = from_folder(dataset_folder(store, generation))
    with atomic.staged_folder(Path(pointer.folder_of(store, generation)), FOLDER_MODE) as fresh:
        source.write(fresh)
    remove(store, generation)
