"""``unpack``: the dataset of an archive as a folder.

Strategy: the head of the archive comes first, and with it the signature. An archive has exactly the
files that its manifest describes, by name. Their sizes are compared with the size of the archive
and with the free space before a file is written, to a staging directory. The digest of each file is
computed while it is written. The folder is renamed into place if ``verify`` finds no damage.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from geolookup.archives.head import Head, open_archive
from geolookup.archives.members import Members
from geolookup.dataset.manifest import is_dataset
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.ownership import FOLDER_MODE, create
from geolookup.integrity import VerifiedDataset
from geolookup.progress import stage
from geolookup.signing.trust import Trust, TrustedKeys, read_trusted_keys


def unpack(
    archive: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    trusted_keys: TrustedKeys | None = None,
    force: bool = False,
) -> None:
    """Write the dataset of an archive to the folder ``output``, and verify it.

    The result is the dataset that was packed, byte by byte. With ``trusted_keys`` (the file of a
    public key, or several; needs the extra ``sign``) one of these keys must have signed the
    dataset. The signature is checked before a file is written. With ``force`` an existing dataset
    is replaced. Raises DatasetError for an archive that is missing, damaged, not trusted, of
    another format version, or not written by ``pack``, and for a dataset that ``verify`` refuses;
    KeyFileError for a bad key, ValueError for an empty sequence of keys; OutputError for a folder
    that exists or cannot be written. On an error ``output`` does not change.
    """
    archive, output = Path(archive), Path(output)
    atomic.check_folder(output, force=force, replaceable=is_dataset)
    trust = None if trusted_keys is None else Trust(read_trusted_keys(trusted_keys))
    with open_archive(archive) as (head, members):
        if trust is not None:
            trust.check(head.manifest_text, head.signature, archive)
        with atomic.staged_folder(output, FOLDER_MODE, force=force) as folder:
            extract(head, members, folder)


def extract(head: Head, members: Members, folder: Path) -> VerifiedDataset:
    """Write the dataset of an archive to an empty folder, and verify it; see ``write_files``."""
    write_files(head, members, folder)
    return VerifiedDataset(folder, lambda name: f"{members.archive}!{name}")


def write_files(head: Head, members: Members, folder: Path) -> None:
    """Write the files of an archive to an empty folder; all have the digests of its manifest.

    Raises DatasetError for an archive that is damaged or has other members, OutputError for too
    little space.
    """
    size = sum(size for size, _ in head.files.values())
    if size > limits.allowed_bytes(members.archive.stat().st_size):
        raise members.error(limits.excess())
    limits.check_space(folder, size)
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


def _digest(content: Iterable[bytes], write: Callable[[bytes], object] = lambda _: None) -> str:
    """Return the digest of a content, and write each chunk of it."""
    digest = hashlib.sha256()
    for chunk in content:
        digest.update(chunk)
        write(chunk)
    return digest.hexdigest()


def _write(path: Path, content: Iterable[bytes]) -> str:
    """Write a file and return its digest."""
    with create(path) as file:
        digest = _digest(content, file.write)
    atomic.fsync(path)
    return digest
