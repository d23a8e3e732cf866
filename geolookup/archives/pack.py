"""``pack``: a dataset as one file, whole or as a delta against a base."""

from __future__ import annotations

import hashlib
import os
from itertools import chain
from pathlib import Path

from geolookup.archives import output
from geolookup.archives.delta.changed import changed
from geolookup.archives.extract import PATCH
from geolookup.archives.header import DELTA, Header
from geolookup.archives.members import MANIFEST_SUM, described_files, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import REBUILD, OutputError
from geolookup.filesystem import atomic
from geolookup.signing.statement import SIGNATURE, read_signature
from geolookup.store import follow
from geolookup.store.signatures import manifest_text

_SUFFIX = ".tar.zst"
_OTHER_FORMATS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".mmdb")


def pack(
    dataset: str | os.PathLike[str],
    archive: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> int:
    """Write a dataset into one archive file and return the size of that file in bytes.

    The archive is a tar file, compressed with Zstandard (RFC 8878), the manifest first; the
    same dataset gives the same bytes. With ``base`` it is a delta: it has only what the dataset
    changed against that one, and is unpacked where the base is. ``dataset`` and ``base`` are
    dataset folders, or stores: then the current generation is meant. With ``force`` an existing
    file is replaced. Raises DatasetError for a dataset that is missing or damaged, OutputError
    for an archive that exists, cannot be written, or has the suffix of another format. On an
    error no archive is left.
    """
    folder, archive = Path(follow.folder(os.fspath(dataset))), Path(archive)
    _check_name(archive)
    manifest = read_manifest(folder)
    described = described_files(manifest, folder / fmt.MANIFEST, REBUILD)
    former = None if base is None else Path(follow.folder(os.fspath(base)))
    atomic.check_file(archive, force=force)
    with atomic.staged_file(archive) as fresh, output.written(fresh) as members:
        if former is None:
            _add_head(members, folder)
            for name, (size, sha256) in sorted(described.items()):
                members.add_file(folder / name, size, sha256)
        else:
            members.add(DELTA, _header(former, folder, manifest).text())
            _add_head(members, folder)
            for name, patch in changed(former, folder):
                members.add(f"{name}{PATCH}", patch)
    return archive.stat().st_size


def _check_name(archive: Path) -> None:
    """Raise OutputError for a name that promises a format which ``pack`` does not write."""
    if archive.suffix.casefold() in _OTHER_FORMATS:
        problem = f"pack writes {_SUFFIX}, not {archive.suffix}"
        raise OutputError(archive, problem, f"name a file that ends with {_SUFFIX}")


def _add_head(members: output.Output, folder: Path) -> None:
    text = manifest_text(folder)
    members.add(fmt.MANIFEST, text)
    members.add(MANIFEST_SUM, sum_line(hashlib.sha256(text).hexdigest()))
    signature = read_signature(folder)
    if signature is not None:
        members.add(SIGNATURE, signature)


def _header(base: Path, folder: Path, manifest: Manifest) -> Header:
    """Return the header of a delta between two datasets, all files of which are read and checked.

    A patch is made of what the files are, so that their digests must be right before.
    """
    from geolookup.integrity.files import digests  # imports numpy, which a whole archive does not

    former = read_manifest(base)
    for damage in chain(digests(base, former), digests(folder, manifest)):
        raise damage
    files = described_files(former, base / fmt.MANIFEST, REBUILD)
    shared = {name: sha256 for name, (_, sha256) in files.items() if name in manifest.files}
    return Header(former.generation, manifest.generation, shared)
