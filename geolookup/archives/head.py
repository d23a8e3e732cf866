"""The head of an archive, before the files of its dataset, which follow by name.

::

    geolookup-archive       the format version of archives, and a line feed
    manifest.json           of the dataset
    manifest.json.sha256    its digest, in the format of sha256sum
    signature.json          if the dataset is signed
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from geolookup.archives.members import Members, open_members
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, manifest_text, parsed_manifest
from geolookup.errors import DatasetError
from geolookup.signing.statement import LARGEST_SIGNATURE, SIGNATURE, read_signature

_MARK, _VERSION = "geolookup-archive", 3
_MARK_TEXT = f"{_VERSION}\n".encode()
#: The first members of archives before version 3: of a delta, and of a whole dataset.
_EARLIER = ("delta.json", fmt.MANIFEST)
#: The manifest has the digests of all files, and this member the digest of the manifest.
MANIFEST_SUM = f"{fmt.MANIFEST}.sha256"
#: Bytes; much more than a manifest of 254 sources has.
LARGEST_MANIFEST = 1 << 24
_REPACK = "pack the whole dataset again with 'geolookup mirror pack'"


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an archive; ``files`` has size and SHA-256 of each file, by name."""

    manifest_text: bytes
    manifest: Manifest
    files: dict[str, tuple[int, object]]
    signature: bytes | None

    @classmethod
    def of(cls, manifest_text: bytes, signature: bytes | None, path: Path) -> Head:
        """Return the head of a dataset; DatasetError naming ``path`` for a damaged manifest."""
        manifest = parsed_manifest(manifest_text, path)
        files = {
            name: (entry["bytes"], entry.get("sha256"))
            for name, entry in sorted(manifest.files.items())
        }
        return cls(manifest_text, manifest, files, signature)

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file of the dataset that the head holds."""
        yield fmt.MANIFEST, self.manifest_text
        if self.signature is not None:
            yield SIGNATURE, self.signature

    def members(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each member that begins an archive."""
        (manifest, *signature) = self.texts()
        yield _MARK, _MARK_TEXT
        yield manifest
        yield MANIFEST_SUM, _sum_line(self.manifest_text)
        yield from signature


def read_head(folder: Path) -> Head:
    """Return the head of a dataset in a folder; DatasetError for a damaged one."""
    return Head.of(manifest_text(folder), read_signature(folder), folder / fmt.MANIFEST)


@contextmanager
def open_archive(archive: Path) -> Iterator[tuple[Head, Members]]:
    """Yield the head of an archive, and its further members.

    Raises DatasetError for an archive that is missing, damaged, of another format version, or not
    written by ``pack``.
    """
    with open_members(archive) as members:
        yield _read(members), members


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file that begins as the archives of any ``pack`` do.

    Other tar archives, such as files of vendors, do not.
    """
    try:
        with open_members(Path(path)) as members:
            return members.next_name in (_MARK, *_EARLIER)
    except (DatasetError, ValueError):  # not a path at all
        return False


def _read(members: Members) -> Head:
    _check_version(members)
    text = members.text(fmt.MANIFEST, LARGEST_MANIFEST)
    expected = _sum_line(text)
    if members.text(MANIFEST_SUM, len(expected)) != expected:
        raise members.error(f"{fmt.MANIFEST} is damaged: its digest differs from {MANIFEST_SUM}")
    is_signed = members.next_name == SIGNATURE
    signature = members.text(SIGNATURE, LARGEST_SIGNATURE) if is_signed else None
    return Head.of(text, signature, members.archive)


def _check_version(members: Members) -> None:
    """Raise DatasetError for an archive of another format version."""
    if members.next_name in _EARLIER:
        raise DatasetError(members.archive, "packed by an earlier geolookup", _REPACK)
    mark = members.text(_MARK, 16)
    if mark != _MARK_TEXT:
        version = mark.decode("ascii", "replace").strip()
        problem = f"an archive of format version {version!r}, but this geolookup reads {_VERSION}"
        raise DatasetError(members.archive, problem, "use the version of geolookup that packed it")


def _sum_line(manifest: bytes) -> bytes:
    return f"{hashlib.sha256(manifest).hexdigest()}  {fmt.MANIFEST}\n".encode()
