"""The files of an archive, written to a folder.

Strategy: an archive has exactly the files that its manifest describes, by name. Their sizes are
compared with the size of the archive and with the free space before a file is written. The digest
of each file is computed while it is written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from geolookup.archives.head import Head
from geolookup.archives.members import Members
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.progress import stage


def extract(head: Head, members: Members, folder: Path) -> VerifiedDataset:
    """Write the dataset of an archive to an empty folder, and verify it; see ``write_files``."""
    write_files(head, members, folder)
    return VerifiedDataset(folder, lambda name: f"{members.archive}!{name}")


def write_files(head: Head, members: Members, folder: Path) -> None:
    """Write the files of an archive to an empty folder; all have the digests of its manifest.

    Raises DatasetError for an archive that is damaged or has other members, OutputError for too
    little space.
    """
    _check_size(head, members, folder)
    for name, text in head.texts():
        _write(folder / name, [text])
    _take(head, members, lambda name, content: _write(folder / name, content))


def check_files(head: Head, members: Members) -> None:
    """Compare the files of an archive with the digests of its manifest; nothing is written.

    Raises DatasetError for an archive that is damaged or has other members.
    """
    _take(head, members, lambda _name, content: _digest(content))


def _take(head: Head, members: Members, digest_of: Callable[[str, Iterable[bytes]], str]) -> None:
    done, total = 0, sum(size for size, _ in head.files.values())
    with stage("reading the archive") as progress:
        for name, (size, sha256) in head.files.items():
            if digest_of(name, members.content(name, size)) != sha256:
                raise members.error(f"{name} is damaged: its digest differs from the manifest")
            done += size
            progress.bytes(done, total)
    members.expect("")  # the end


def _digest(content: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in content:
        digest.update(chunk)
    return digest.hexdigest()


def _check_size(head: Head, members: Members, folder: Path) -> None:
    """Raise an error if the files are more than the archive may hold, or the disk can take."""
    size = sum(size for size, _ in head.files.values())
    if size > limits.allowed_bytes(members.archive.stat().st_size):
        raise members.error(limits.excess())
    limits.check_space(folder, size)


def _write(path: Path, content: Iterable[bytes]) -> str:
    """Write a file and return its digest."""
    digest = hashlib.sha256()
    with create(path) as file:
        for chunk in content:
            digest.update(chunk)
            file.write(chunk)
    atomic.fsync(path)
    return digest.hexdigest()
