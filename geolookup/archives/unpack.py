"""``unpack``: a dataset from an archive.

Strategy: an archive may contain only the manifest, its digest and the files that the manifest
describes; any other member stops it. Files are written to a staging directory while they are
read, and their digests are computed. The directory is renamed into place if all sizes and digests
are right and ``verify`` finds no damage. Before a file is written, the sizes that the manifest
states are compared with the size of the archive and with the free space.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from geolookup.archives.members import (
    MANIFEST_SUM,
    Members,
    described_files,
    open_members,
    sum_line,
)
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, is_dataset, read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic, limits

#: Bytes; much more than a manifest of 254 sources has.
_LARGEST_MANIFEST = 1 << 24
_REPACK = "pack it again with 'geolookup pack'"


def unpack(
    archive: str | os.PathLike[str], output: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write the dataset of an archive to the folder ``output``, and verify it.

    With ``force`` an existing dataset is replaced. Raises DatasetError for an archive that is
    missing, damaged, or not written by ``pack``, and for a dataset that ``verify`` refuses;
    OutputError for a folder that exists or cannot be written. On an error ``output`` does not
    change.
    """
    archive, output = Path(archive), Path(output)
    atomic.check_folder(output, force=force, replaceable=is_dataset)
    with open_members(archive) as members, atomic.staged_folder(output) as folder:
        missing = described_files(_take_manifest(members, folder), archive, _REPACK)
        _check_size(members, output, sum(size for size, _ in missing.values()))
        while (member := members.next()) is not None:
            if member.name not in missing:
                raise members.refused(f"unexpected member {member.name!r}")
            _take(members, member, folder / member.name, *missing.pop(member.name))
        if missing:
            raise members.refused(f"{min(missing)} is missing")
        _verify(folder, archive)


def _verify(folder: Path, archive: Path) -> None:
    """Verify the unpacked dataset; an error names the archive and the file in it."""
    from geolookup.integrity import verify  # imports numpy, which ``pack`` does not need

    try:
        verify(folder)
    except DatasetError as error:
        name = Path(error.path).relative_to(folder)
        raise DatasetError(f"{archive}!{name}", error.problem, error.remedy) from error


def _take_manifest(members: Members, folder: Path) -> Manifest:
    """Write the manifest at the beginning of an archive, and return it."""
    first = members.next()
    if first is None or first.name != fmt.MANIFEST or first.size > _LARGEST_MANIFEST:
        raise members.refused(f"does not begin with the {fmt.MANIFEST} of a dataset")
    expected = sum_line(_write(folder / fmt.MANIFEST, members.data(first)))
    second = members.next()
    if second is None or second.name != MANIFEST_SUM or second.size != len(expected):
        raise members.refused(f"{MANIFEST_SUM} is missing")
    if b"".join(members.data(second)) != expected:
        raise members.refused(
            f"{fmt.MANIFEST} is damaged: its digest is not that of {MANIFEST_SUM}"
        )
    try:
        return read_manifest(folder)
    except DatasetError as error:
        raise DatasetError(members.archive, error.problem, _REPACK) from None


def _check_size(members: Members, output: Path, size: int) -> None:
    """Raise an error if the files are more than the archive may hold, or the disk can take."""
    if size > limits.allowed_bytes(members.archive.stat().st_size):
        raise members.refused(limits.excess())
    limits.check_space(output, size)


def _take(members: Members, member: tarfile.TarInfo, path: Path, size: int, sha256: str) -> None:
    if member.size != size:
        problem = f"{path.name} has {member.size} bytes, but the manifest says {size}"
        raise members.refused(problem)
    if _write(path, members.data(member)) != sha256:
        raise members.refused(f"{path.name} is damaged: its digest is not that of the manifest")


def _write(path: Path, data: Iterator[bytes]) -> str:
    """Write a file and return its digest."""
    digest = hashlib.sha256()
    with path.open("xb") as file:
        for chunk in data:
            digest.update(chunk)
            file.write(chunk)
    atomic.fsync_file(path)
    return digest.hexdigest()
