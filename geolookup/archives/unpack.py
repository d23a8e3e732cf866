"""``unpack``: a dataset from an archive, whole or a delta.

Strategy: the head of the archive comes first, and with it the signature. Only then are files
written, to a staging directory. It is renamed into place if all sizes and digests are right and
``verify`` finds no damage.
"""

from __future__ import annotations

import os
from pathlib import Path

from geolookup.archives.extract import extract
from geolookup.archives.head import Header, open_archive
from geolookup.dataset.manifest import Manifest, is_dataset, read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import FOLDER_MODE
from geolookup.signing.trust import Trust, TrustedKeys, read_trusted_keys
from geolookup.store import pointer
from geolookup.store.paths import dataset_path

_WHOLE = "name its base with --base, or unpack an archive of the whole dataset"


def unpack(
    archive: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    trusted_keys: TrustedKeys | None = None,
    force: bool = False,
) -> None:
    """Write the dataset of an archive to the folder ``output``, and verify it.

    A delta needs ``base``: the dataset that it was packed against, or a store that has that
    generation. The result is the dataset that was packed, byte by byte. With ``trusted_keys`` (the
    file of a public key, or several; needs the extra ``sign``) one of these keys must have signed
    the dataset. The signature is checked before a file is written. With ``force`` an existing
    dataset is replaced. Raises DatasetError for an archive that is missing, damaged, not trusted,
    or not written by ``pack``, for a missing, damaged or wrong base, and for a dataset that
    ``verify`` refuses; KeyFileError for a bad key, ValueError for an empty sequence of keys;
    OutputError for a folder that exists or cannot be written. On an error ``output`` does not
    change.
    """
    archive, output = Path(archive), Path(output)
    atomic.check_folder(output, force=force, replaceable=is_dataset)
    trust = None if trusted_keys is None else Trust(read_trusted_keys(trusted_keys))
    with open_archive(archive) as (head, members):
        if trust is not None:
            trust.check(head.manifest_text, head.signature, archive)
        former = None
        if head.header is not None:
            former = base_folder(head.header, base, archive, _WHOLE)
        with atomic.staged_folder(output, FOLDER_MODE, force=force) as folder:
            extract(head, members, folder, former)


def base_folder(
    header: Header, base: str | os.PathLike[str] | None, archive: Path, remedy: str
) -> Path:
    """Return the folder of the generation that a delta is made against.

    ``base`` is a dataset, or a store: then any of its generations may be the base, also one
    that is withdrawn. Every file of the base is read, and must have the digest that the delta
    states. Raises DatasetError, with the remedy, for a missing or damaged base and for other bytes.
    """
    if base is None:
        raise DatasetError(archive, f"a delta of generation {header.base}", remedy)
    path = Path(dataset_path(base))
    folder = _generation(path, header.base)
    try:
        manifest = read_manifest(folder)
    except DatasetError:
        raise _missing(header, path, archive, remedy) from None
    if manifest.generation != header.base:
        raise _missing(header, path, archive, remedy)
    _check(folder, manifest, header, archive, remedy)
    return folder


def _generation(path: Path, generation: str) -> Path:
    is_store = (path / pointer.GENERATIONS).is_dir()
    return Path(pointer.folder_of(path, generation)) if is_store else path


def _missing(header: Header, path: Path, archive: Path, remedy: str) -> DatasetError:
    problem = f"a delta of generation {header.base}, but {path} does not have it"
    return DatasetError(archive, problem, remedy)


def _check(folder: Path, manifest: Manifest, header: Header, archive: Path, remedy: str) -> None:
    """Raise DatasetError unless the files are undamaged, and those that the delta was made of."""
    from geolookup.integrity.files import digests  # imports numpy, as ``verify`` does

    for damage in digests(folder, manifest):
        raise DatasetError(damage.path, f"{damage.problem}; it is the base of {archive}", remedy)
    check_stated(folder, manifest, header, archive, remedy)


def check_stated(
    folder: Path, manifest: Manifest, header: Header, archive: Path, remedy: str
) -> None:
    """Raise DatasetError unless a manifest states the digests that the delta states."""
    for name, sha256 in header.files.items():
        description = manifest.file(name)
        if description is None or description.sha256 != sha256:
            problem = f"a delta of other bytes of generation {header.base} than {folder} has"
            raise DatasetError(archive, problem, remedy)
