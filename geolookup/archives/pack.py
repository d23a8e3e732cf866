"""``pack``: a dataset as one file, whole or as a delta against a base."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from geolookup.archives import output
from geolookup.archives.delta.changed import changed
from geolookup.archives.extract import PATCH
from geolookup.archives.header import DELTA, Header
from geolookup.archives.members import MANIFEST_SUM, SUFFIX, described_files, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import REBUILD, OutputError
from geolookup.filesystem import atomic
from geolookup.signing.keys import PrivateKey, Signing, signing_keys
from geolookup.signing.statement import SIGNATURE, read_signature, serial_in, stated
from geolookup.store import resolve
from geolookup.store.signatures import manifest_text
from geolookup.store.trusted import latest_serial

_OTHER_FORMATS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".mmdb")


def pack(
    dataset: str | os.PathLike[str],
    archive: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    sign: Signing = (),
    force: bool = False,
) -> int:
    """Write a dataset into one archive file and return the size of that file in bytes.

    The archive is a tar file, compressed with Zstandard (RFC 8878), the manifest first; the
    same dataset gives the same bytes. With ``base`` it is a delta: it has only what the dataset
    changed against that one, and is unpacked where the base is. ``dataset`` and ``base`` are
    dataset folders, or stores: then the current generation is meant. ``sign`` is the file of a
    private key, or several: they sign the dataset in the archive, and the folder stays as it is;
    without it the archive has the signature of the dataset. With ``force`` an existing file is
    replaced. Raises DatasetError for a dataset that is missing or damaged, KeyFileError for a file
    that is no private key or that others may read, OutputError for an archive that exists, cannot
    be written, or has the suffix of another format. On an error no archive is left.
    """
    folder, archive = Path(resolve.folder(os.fspath(dataset))), Path(archive)
    _check_name(archive)
    keys = signing_keys(sign)
    manifest = read_manifest(folder)
    described = described_files(manifest, folder / fmt.MANIFEST, REBUILD)
    former = None if base is None else Path(resolve.folder(os.fspath(base)))
    atomic.check_file(archive, force=force)
    head = list(_head(folder, keys, latest_serial(dataset)))
    with atomic.staged_file(archive) as fresh, output.written(fresh) as members:
        if former is not None:
            members.add(DELTA, _header(former, folder, manifest).text())
        for name, text in head:
            members.add(name, text)
        if former is None:
            for name, (size, sha256) in sorted(described.items()):
                members.add_file(folder / name, size, sha256)
        else:
            for name, patch in changed(former, folder):
                members.add(f"{name}{PATCH}", patch)
    return archive.stat().st_size


def _check_name(archive: Path) -> None:
    """Raise OutputError for a name that promises a format which ``pack`` does not write."""
    if archive.suffix.casefold() in _OTHER_FORMATS:
        problem = f"pack writes {SUFFIX}, not {archive.suffix}"
        raise OutputError(archive, problem, f"name a file that ends with {SUFFIX}")


def _head(folder: Path, keys: Sequence[PrivateKey], after: int) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest and its signature: a new one of the keys, else that of the dataset."""
    text = manifest_text(folder)
    yield fmt.MANIFEST, text
    yield MANIFEST_SUM, sum_line(hashlib.sha256(text).hexdigest())
    signature = read_signature(folder)
    if keys:
        signature = stated(text, keys, max(after, serial_in(folder)))
    if signature is not None:
        yield SIGNATURE, signature


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
