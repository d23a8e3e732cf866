"""From a path to the dataset that it means now: a store's current generation, or the dataset there.

Strategy: what moves under a reader shows in the stat of one file, the pointer or the
manifest, for both are only ever replaced. A dataset was read whole where that file is the
same behind the reading as before it.
"""

from __future__ import annotations

import os

from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from geolookup.store import pointer

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    Signature = tuple[int, int, int] | None


def signature(path: str) -> Signature:
    """Return what changes when a path comes to mean another dataset; None where nothing is."""
    for name in (pointer.CURRENT, fmt.MANIFEST):
        try:
            found = os.stat(os.path.join(path, name))
        except (OSError, ValueError):  # the latter for what is no path at all
            continue
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def folder(path: str) -> str:
    """Return the folder of the dataset that a path means; DatasetError for a damaged pointer."""
    published = pointer.standing(pointer.read(path))
    return pointer.folder_of(path, published[-1].generation) if published else path


def generation(path: str) -> str:
    """Return the generation that a path means; DatasetError where there is none."""
    published = pointer.standing(pointer.read(path))
    return published[-1].generation if published else read_manifest(path).generation


def opened(path: str, check: Callable[[Dataset], None] | None = None) -> Dataset:
    """Open the dataset that a path means and that passes ``check``.

    Where the path comes to mean another one meanwhile, that is opened instead: the
    first may have been pruned, or replaced while it was read. Raises DatasetError.
    """
    while True:
        seen = signature(path)
        try:
            dataset = Dataset(folder(path))
            if check is not None:
                check(dataset)
        except DatasetError:
            if signature(path) == seen:
                raise
        else:
            if signature(path) == seen:
                return dataset


def opened_generation(path: str, wanted: str) -> Dataset:
    """Open this very generation; DatasetError where it is not there any more."""
    if not pointer.read(path):
        dataset = opened(path)
    else:
        try:
            dataset = Dataset(pointer.folder_of(path, wanted))
        except DatasetError as error:
            problem = f"generation {wanted} cannot be opened ({error.problem})"
            raise DatasetError(path, problem, "publish it again, or pickle again") from error
    found = dataset.manifest.generation
    if found != wanted:
        raise DatasetError(path, f"generation {found} where {wanted} was pickled", "pickle again")
    return dataset
