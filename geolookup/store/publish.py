"""Publishing: a dataset becomes a generation of a store, and the one that answers.

Strategy: the files are linked or copied into a folder that nobody reads, made durable and
verified there; that folder takes its name, and last the pointer moves. Each of the two
steps is one rename, so whatever ends the process leaves the old or the new generation.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import atomic
from geolookup.integrity import verify
from geolookup.store import follow, pointer
from geolookup.store.changing import changing
from geolookup.store.pointer import Published


def publish(
    dataset: str | os.PathLike[str], store: str | os.PathLike[str], *, copy: bool = False
) -> str:
    """Make a dataset the current generation of a store; return its id, 64 hexadecimal digits.

    Where both are on one file system the files are hard-linked, unless ``copy`` is
    true. A generation that is in the store already only becomes the current one.
    ``dataset`` may be a store, too, and means its current generation. The store is
    made where it is not there. Raises DatasetError for a missing or damaged dataset,
    OutputError for a folder that is no store or cannot be written; the store stays
    as it was.
    """
    source, store = Path(follow.folder(os.fspath(dataset))), Path(store)
    generation = _generation(source)
    with changing(store, make=True) as published:
        place = Path(pointer.folder_of(store, generation))
        if not _is_sound(place):
            _bring(source, place, generation, copy=copy)
        others = [each for each in published if each.generation != generation]
        pointer.write(store, [*others, Published(generation, _now())])
    return generation


def _generation(source: Path) -> str:
    generation = read_manifest(source).generation
    if not pointer.is_generation(generation):
        raise DatasetError(source, f"{generation!r} is no generation", REBUILD)
    return generation


def _is_sound(place: Path) -> bool:
    """Return whether a generation is in its place; a damaged one is brought again."""
    try:
        verify(place)
    except DatasetError:
        return False
    return True


def _bring(source: Path, place: Path, generation: str, *, copy: bool) -> None:
    """Put a dataset into its place in the store, whole or not at all."""
    manifest = read_manifest(source)
    names = (*fmt.FILES, *(fmt.EXPLAINING if manifest.explains_rows else ()), fmt.MANIFEST)
    with atomic.staged_folder(place) as fresh:
        for name in names:
            _take(source / name, fresh / name, copy=copy)
        _check(fresh, source, generation)


def _take(source: Path, target: Path, *, copy: bool) -> None:
    if not source.is_file():
        raise DatasetError(source, "missing", REBUILD)
    # A link to a link would lead out of the store.
    if not copy and not source.is_symlink():
        with contextlib.suppress(OSError):  # another file system, or one without links
            target.hardlink_to(source)
    if not target.exists():
        _copy(source, target)
    atomic.fsync_file(target)


def _copy(source: Path, target: Path) -> None:
    try:
        stream = source.open("rb")
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise DatasetError(source, problem, "check its permissions") from error
    with stream, target.open("xb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)


def _check(fresh: Path, source: Path, generation: str) -> None:
    """Verify what was brought; errors name the dataset that it came from."""
    try:
        verify(fresh)
    except DatasetError as error:
        at_fault = source / Path(error.path).relative_to(fresh)
        raise DatasetError(at_fault, error.problem, error.remedy) from error
    if read_manifest(fresh).generation != generation:
        raise DatasetError(source, "replaced while it was read", "publish again")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
