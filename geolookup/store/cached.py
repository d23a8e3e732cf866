"""Datasets in the cache: with trusted keys, what answers is what was checked."""

from __future__ import annotations

from pathlib import Path

from geolookup.dataset.checksums import wrong_files
from geolookup.dataset.files import Dataset
from geolookup.errors import DatasetError
from geolookup.filesystem.cache import is_safe

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Collection

    from geolookup.signing.keys import PublicKey


def checked(folder: Path, keys: Collection[PublicKey]) -> Dataset | None:
    """Open a dataset in the cache; None if it is missing or damaged: it must be made again.

    With trusted keys also None if another user can change it, or a file differs from the manifest.
    The caller checks the signature of a dataset that has one. All files are mapped: the cache may
    evict them. Raises OutputError if others can change the cache itself.
    """
    if keys and not is_safe(folder):
        return None
    try:
        dataset = Dataset(folder)
        dataset.map_all()
    except DatasetError:
        return None
    return None if keys and any(wrong_files(folder, dataset.manifest)) else dataset
