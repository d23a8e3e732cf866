"""The head of an archive: what it is, who signed it, and what it will make, before any file.

::

    delta.json              of a delta only
    manifest.json           of the dataset that the archive makes
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

from geolookup.archives.header import DELTA, LARGEST_HEADER, Header, parsed_header
from geolookup.archives.members import MANIFEST_SUM, Members, open_members, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, parsed_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem.regular import open_regular
from geolookup.signing.statement import LARGEST_SIGNATURE, SIGNATURE

#: Bytes; much more than a manifest of 254 sources has.
LARGEST_MANIFEST = 1 << 24
REPACK = "pack it again with 'geolookup pack'"
_ZSTD = b"\x28\xb5\x2f\xfd"  # the first bytes of a frame, RFC 8878


@dataclass(frozen=True, slots=True)
class Head:
    """What an archive states before its files."""

    header: Header | None  # None: the archive has the whole dataset
    manifest_text: bytes
    manifest: Manifest
    signature: bytes | None

    def texts(self) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of each file of the dataset that the head holds."""
        yield fmt.MANIFEST, self.manifest_text
        if self.signature is not None:
            yield SIGNATURE, self.signature


@contextmanager
def open_archive(archive: Path) -> Iterator[tuple[Head, Members]]:
    """Yield the head of an archive, and its further members.

    Raises DatasetError for an archive that is missing, damaged, or not written by ``pack``.
    """
    with open_members(archive) as members:
        yield _read(members), members


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a file that begins as the archives of ``pack`` do.

    Other tar archives, such as those of a vendor's files, do not.
    """
    try:
        with open_regular(path) as file:
            if file.read(len(_ZSTD)) != _ZSTD:
                return False
        with open_members(Path(path)) as members:
            first = members.next()
    except (OSError, ValueError, DatasetError):
        return False
    return first is not None and first.name in (DELTA, fmt.MANIFEST)


def _read(members: Members) -> Head:
    stated = members.text(DELTA, LARGEST_HEADER)
    header = None if stated is None else parsed_header(stated, members.archive)
    text = members.text(fmt.MANIFEST, LARGEST_MANIFEST)
    if text is None:
        raise members.refused(f"does not begin with the {fmt.MANIFEST} of a dataset")
    _check_sum(members, text)
    manifest = _manifest(text, members.archive)
    if header is not None and header.target != manifest.generation:
        raise members.refused(f"{DELTA} and {fmt.MANIFEST} name different generations")
    return Head(header, text, manifest, members.text(SIGNATURE, LARGEST_SIGNATURE))


def _check_sum(members: Members, manifest: bytes) -> None:
    expected = sum_line(hashlib.sha256(manifest).hexdigest())
    stated = members.text(MANIFEST_SUM, len(expected))
    if stated is None:
        raise members.refused(f"{MANIFEST_SUM} is missing")
    if stated != expected:
        raise members.refused(
            f"{fmt.MANIFEST} is damaged: its digest is not that of {MANIFEST_SUM}"
        )


def _manifest(text: bytes, archive: Path) -> Manifest:
    try:
        return parsed_manifest(text, archive)
    except DatasetError as error:
        raise DatasetError(archive, error.problem, REPACK) from None
