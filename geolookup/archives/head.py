"""The head of an archive, before any file: its base, its signature, and the manifest.

::

    delta.json              of a delta only: the base that it needs, and the files of that
    manifest.json           of the dataset that the archive makes
    manifest.json.sha256    its digest, in the format of sha256sum
    signature.json          if the dataset is signed

``delta.json`` is::

    {"format": "geolookup-delta", "format_version": 2,
     "base": "ID", "generation": "ID", "files": {"NAME": "SHA-256 of this file of the base"}}

``files`` lists the files that base and target both have: those that a patch reads, and those that
are the same in both.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geolookup.archives.members import AGAIN, MANIFEST_SUM, Members, open_members, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, is_generation, parsed_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import open_regular
from geolookup.signing.statement import LARGEST_SIGNATURE, SIGNATURE

DELTA = "delta.json"
#: Bytes; a header lists at most the files of a dataset.
LARGEST_HEADER = 1 << 16
_FORMAT, _VERSION = "geolookup-delta", 2
#: Bytes; much more than a manifest of 254 sources has.
LARGEST_MANIFEST = 1 << 24
REPACK = "pack it again with 'geolookup pack'"
_ZSTD = b"\x28\xb5\x2f\xfd"  # the first bytes of a frame, RFC 8878


@dataclass(frozen=True, slots=True)
class Header:
    """The base generation of a delta, the generation that it makes, and files of the base."""

    base: str
    target: str
    files: Mapping[str, str]  # name: SHA-256, in hexadecimal digits

    def text(self) -> bytes:
        """Return the content of ``delta.json``."""
        document = {
            "format": _FORMAT,
            "format_version": _VERSION,
            "base": self.base,
            "generation": self.target,
            "files": dict(sorted(self.files.items())),
        }
        return (json.dumps(document, indent=1) + "\n").encode()


def parsed_header(text: bytes, archive: str | os.PathLike[str]) -> Header:
    """Parse a header; DatasetError naming the archive for any other text."""
    try:
        document = json.loads(text)
        is_delta, version = document["format"] == _FORMAT, document["format_version"]
        header = Header(document["base"], document["generation"], document["files"])
    except (TypeError, KeyError, ValueError, RecursionError):
        raise _damage_error(archive) from None
    if is_delta and type(version) is int and version != _VERSION:
        problem = f"a delta of format version {version}, but this geolookup reads {_VERSION}"
        raise DatasetError(archive, problem, "use the version of geolookup that packed it")
    if not is_delta or type(version) is not int or not _is_complete(header):
        raise _damage_error(archive)
    return header


def _is_complete(header: Header) -> bool:
    files: Any = header.files
    return (
        is_generation(header.base)
        and is_generation(header.target)
        and isinstance(files, dict)
        and files.keys() <= {*fmt.FILES, fmt.OWN, *fmt.EXPLAINING}
        and all(map(is_generation, files.values()))  # a SHA-256 too
    )


def _damage_error(archive: str | os.PathLike[str]) -> DatasetError:
    return DatasetError(archive, f"{DELTA} is damaged", AGAIN)


@dataclass(frozen=True, slots=True)
class Head:
    """The header of an archive."""

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

    Other tar archives, such as files of vendors, do not.
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
    # The order of members is fixed: delta.json (only in a delta), manifest.json, its digest, ...
    header_text = members.text(DELTA, LARGEST_HEADER)
    header = None if header_text is None else parsed_header(header_text, members.archive)
    text = members.text(fmt.MANIFEST, LARGEST_MANIFEST)
    if text is None:
        raise members.error(f"does not begin with the {fmt.MANIFEST} of a dataset")
    _check_sum(members, text)
    manifest = _manifest(text, members.archive)
    if header is not None and header.target != manifest.generation:
        raise members.error(f"{DELTA} and {fmt.MANIFEST} name different generations")
    return Head(header, text, manifest, members.text(SIGNATURE, LARGEST_SIGNATURE))


def _check_sum(members: Members, manifest: bytes) -> None:
    expected = sum_line(hashlib.sha256(manifest).hexdigest())
    line = members.text(MANIFEST_SUM, len(expected))
    if line is None:
        raise members.error(f"{MANIFEST_SUM} is missing")
    if line != expected:
        raise members.error(f"{fmt.MANIFEST} is damaged: its digest differs from {MANIFEST_SUM}")


def _manifest(text: bytes, archive: Path) -> Manifest:
    try:
        return parsed_manifest(text, archive)
    except DatasetError as error:
        raise DatasetError(archive, error.problem, REPACK) from None
