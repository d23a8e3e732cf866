"""``pack``: a dataset as one file, whole or as a delta against a base.

The file is a tar archive, compressed with Zstandard, of the same bytes each time.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO

from geolookup.archives.delta import file_patches
from geolookup.archives.extract import PATCH
from geolookup.archives.head import DELTA, Header
from geolookup.archives.members import MANIFEST_SUM, SUFFIX, described_files, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, read_manifest
from geolookup.errors import REBUILD, DatasetError, OutputError
from geolookup.filesystem import ReadErrors, atomic, open_regular
from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup.signing.statement import SIGNATURE, read_signature, serial_in, signed_statement
from geolookup.store import resolve
from geolookup.store.paths import dataset_path
from geolookup.store.signatures import manifest_text
from geolookup.store.trusted import latest_serial

_OTHER_FORMATS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".mmdb")
#: Bytes of a frame, and the compression level. The output stream of Arrow has no option for
#: the level; its level 1 gives files that are a seventh larger.
_FRAME, _LEVEL = 16 << 20, 6


def pack(
    dataset: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    signing_keys: SigningKeys = (),
    force: bool = False,
) -> int:
    """Write a dataset into one archive file and return the size of that file in bytes.

    The archive is a tar file, compressed with Zstandard (RFC 8878), the manifest first; the same
    dataset gives the same bytes. With ``base`` it is a delta: only the changes against the base.
    A receiver needs the base to unpack it. ``dataset`` and ``base`` are paths that
    ``geolookup.open`` accepts; of a store the current generation is read. ``signing_keys`` is the
    file of a private key, or several: they sign the dataset in the archive only. Without keys the
    archive has the signature of the dataset. With ``force`` an existing file is replaced. Raises
    DatasetError for a dataset that is missing or damaged, KeyFileError for a file that is not a
    private key or that others may read, OutputError for an archive that exists, cannot be written,
    or has the suffix of another format. On an error no archive is left.
    """
    dataset, archive = dataset_path(dataset), Path(output)
    folder = Path(resolve.folder(dataset))
    _check_name(archive)
    keys = read_signing_keys(signing_keys)
    described_files(read_manifest(folder), folder / fmt.MANIFEST, REBUILD)
    former = None if base is None else Path(resolve.folder(base))
    atomic.check_file(archive, force=force)
    # Read before the file is written: an unreadable signature leaves no archive.
    head = list(_head(folder, keys, latest_serial(dataset)))
    with atomic.staged_file(archive, force=force) as fresh:
        _write(fresh, folder, former, head)
    return archive.stat().st_size


def write_delta(output: Path, folder: Path, base: Path) -> None:
    """Write the delta of a dataset against its base to ``output``, with the dataset's signature.

    Raises the errors of ``pack``.
    """
    _write(output, folder, base, list(_head(folder, (), 0)))


def _write(
    output: Path, folder: Path, base: Path | None, head: Sequence[tuple[str, bytes]]
) -> None:
    manifest = read_manifest(folder)
    with _output(output) as members:
        if base is not None:
            members.add(DELTA, _header(base, folder, manifest).text())
        for name, text in head:
            members.add(name, text)
        if base is None:
            files = described_files(manifest, folder / fmt.MANIFEST, REBUILD)
            for name, (size, sha256) in sorted(files.items()):
                members.add_file(folder / name, size, sha256)
        else:
            for name, patch in file_patches(base, folder):
                members.add(f"{name}{PATCH}", patch)


def _check_name(archive: Path) -> None:
    """Raise OutputError for a name that promises a format which ``pack`` does not write."""
    if archive.suffix.casefold() in _OTHER_FORMATS:
        problem = f"pack writes {SUFFIX}, not {archive.suffix}"
        raise OutputError(archive, problem, f"name a file that ends with {SUFFIX}")


def _head(folder: Path, keys: Sequence[PrivateKey], after: int) -> Iterator[tuple[str, bytes]]:
    """Yield the manifest and its signature: a new one by the keys, else the dataset's own."""
    text = manifest_text(folder)
    yield fmt.MANIFEST, text
    yield MANIFEST_SUM, sum_line(hashlib.sha256(text).hexdigest())
    signature = read_signature(folder)
    if keys:
        signature = signed_statement(text, keys, max(after, serial_in(folder)))
    if signature is not None:
        yield SIGNATURE, signature


def _header(base: Path, folder: Path, manifest: Manifest) -> Header:
    """Return the header of a delta between two datasets. All their files are read and checked.

    A patch describes the files on the disk, so their digests must be right.
    """
    from geolookup.integrity.files import digests  # imports numpy; a whole archive needs none

    former = read_manifest(base)
    for damage in chain(digests(base, former), digests(folder, manifest)):
        raise damage
    files = described_files(former, base / fmt.MANIFEST, REBUILD)
    shared = {name: sha256 for name, (_, sha256) in files.items() if name in manifest.files}
    return Header(former.generation, manifest.generation, shared)


@contextmanager
def _output(archive: Path) -> Iterator[_Output]:
    """Yield the output of a new archive; its end is written after the block."""
    with (
        archive.open("wb") as file,
        # In this format each member has exactly one header, whatever its size.
        tarfile.open(  # type: ignore[call-overload]  # the stream is written to only
            mode="w|",
            fileobj=_CompressedOutput(file),
            format=tarfile.GNU_FORMAT,
            bufsize=_FRAME,
        ) as tar,
    ):
        yield _Output(tar)


class _Output:
    """An archive that is being written."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar

    def add(self, name: str, content: bytes) -> None:
        """Add a member."""
        self._tar.addfile(_member(name, len(content)), io.BytesIO(content))

    def add_file(self, path: Path, size: int, sha256: str) -> None:
        """Add a file of a dataset; DatasetError unless it has this size and digest."""
        with ReadErrors(path):
            file = open_regular(path)
        with file:
            actual = os.fstat(file.fileno()).st_size
            if actual != size:
                problem = f"{actual} bytes, but the manifest says {size}"
                raise DatasetError(path, problem, REBUILD)
            # Digest and copy in one pass; a file that changes meanwhile has another digest.
            digesting = _DigestReader(path, file)
            member = _member(path.name, size)
            self._tar.addfile(member, digesting)  # type: ignore[arg-type]  # it reads only
        if digesting.sha256.hexdigest() != sha256:
            raise DatasetError(path, "damaged: its digest differs from the manifest", REBUILD)


def _member(name: str, size: int) -> tarfile.TarInfo:
    """Return a header without owner and time."""
    header = tarfile.TarInfo(name)
    header.size, header.mode, header.mtime = size, 0o644, 0
    return header


class _CompressedOutput:
    """An output file; each part written becomes a Zstandard frame."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa

        self._file, self._codec = file, pa.Codec("zstd", compression_level=_LEVEL)

    def write(self, data: bytes) -> int:
        self._file.write(self._codec.compress(data, asbytes=True))
        return len(data)


class _DigestReader:
    """An input file; each read adds to its digest."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        with ReadErrors(self._path):
            data = self._file.read(size)
        self.sha256.update(data)
        return data
