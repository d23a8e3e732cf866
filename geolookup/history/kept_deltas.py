"""The generations that a store keeps as deltas.

::

    STORE/history/GENERATION.tar.zst    a delta to another generation of the store, its successor

Strategy: a delta is an archive of ``pack`` against the next generation, itself unpacked or a delta.
So a walk from the nearest unpacked one makes any generation. Before the folder of a generation is
removed, its delta is applied, and the digests of the result are compared. A generation that has
both counts as unpacked: a process died between these steps, or it became current again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geolookup.archives.extract import check_delta
from geolookup.archives.head import Head, Header, open_archive
from geolookup.archives.members import AGAIN, Members
from geolookup.archives.pack import write_delta
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
def open_delta(store: Path, generation: str) -> Iterator[tuple[Head, Header, Members]]:
    """Yield the manifest and signature of a delta, its header, and its other members.

    Raises DatasetError for a damaged delta and for another archive.
    """
    path = delta_path(store, generation)
    with restorable(path), open_archive(path) as (head, members):
        if head.manifest.generation != generation:
            problem = f"its generation is {head.manifest.generation}, unlike its name"
            raise DatasetError(path, problem, RESTORE)
        if head.header is None:
            raise DatasetError(path, "an archive of the whole dataset, not a delta", RESTORE)
        yield head, head.header, members


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
    with open_delta(store, generation) as (head, _, _):
        return head


def base_of(store: Path, generation: str) -> str:
    """Return the generation that a delta is applied to; DatasetError for a damaged delta."""
    with open_delta(store, generation) as (_, header, _):
        return header.base


def write(store: Path, generation: str, folder: Path, base: Path) -> int:
    """Write the delta of a generation, and check it; return its size in bytes.

    ``folder`` and ``base`` are the datasets of the generation and of its successor. An existing
    delta is replaced, in one rename. Raises DatasetError for a damaged dataset, OutputError for a
    file that cannot be written; nothing has changed then.
    """
    path = delta_path(store, generation)
    with atomic.output_errors(path):
        path.parent.mkdir(FOLDER_MODE, exist_ok=True)
        with atomic.staged_file(path, FILE_MODE) as fresh:
            write_delta(fresh, folder, base)
            with open_archive(fresh) as (head, members):
                check_delta(head, members, folder, base)
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


def restore_dependents(store: Path, base: str) -> None:
    """Unpack each generation whose delta is made against ``base``, whose bytes will change."""
    if not pointer.is_unpacked(store, base):
        return
    for generation in delta_generations(store):
        with suppress(DatasetError):  # a damaged delta stays unchanged
            if base_of(store, generation) == base:
                restore(store, generation)
