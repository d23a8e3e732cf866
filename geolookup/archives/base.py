"""The base of a delta: found in a store or named as a folder, and checked before it is used."""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.archives.header import Header
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import DatasetError
from geolookup.store import pointer


def base_folder(
    header: Header, base: str | os.PathLike[str] | None, archive: Path, remedy: str
) -> Path:
    """Return the folder of the generation that a delta is made against.

    ``base`` is a dataset, or a store: then any of its generations may be the base, also one
    that is withdrawn. Every file of the base is read, and must have the digest that the delta
    states. DatasetError, with the remedy, for a base that is missing, damaged or has other bytes.
    """
    if base is None:
        raise DatasetError(archive, f"a delta of generation {header.base}", remedy)
    place = Path(base)
    folder = _generation(place, header.base)
    try:
        manifest = read_manifest(folder)
    except DatasetError:
        raise _missing(header, place, archive, remedy) from None
    if manifest.generation != header.base:
        raise _missing(header, place, archive, remedy)
    _check(folder, manifest, header, archive, remedy)
    return folder


def _generation(place: Path, wanted: str) -> Path:
    is_store = (place / pointer.GENERATIONS).is_dir()
    return Path(pointer.folder_of(place, wanted)) if is_store else place


def _missing(header: Header, place: Path, archive: Path, remedy: str) -> DatasetError:
    problem = f"a delta of generation {header.base}, which {place} does not have"
    return DatasetError(archive, problem, remedy)


def _check(folder: Path, manifest: Manifest, header: Header, archive: Path, remedy: str) -> None:
    """Raise DatasetError unless the files are undamaged, and those that the delta was made of."""
    from geolookup.integrity.files import digests  # imports numpy, as ``verify`` does

    for damage in digests(folder, manifest):
        raise DatasetError(damage.path, f"{damage.problem}; it is the base of {archive}", remedy)
    for name, sha256 in header.files.items():
        described = manifest.file(name)
        if described is None or described.sha256 != sha256:
            problem = f"a delta of other bytes of generation {header.base} than {folder} has"
            raise DatasetError(archive, problem, remedy)
