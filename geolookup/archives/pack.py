"""``pack``: a dataset as one file, a tar archive compressed with Zstandard, manifest first."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import IO

from geolookup.archives.members import MANIFEST_SUM, described_files, readable, sum_line
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import REBUILD, DatasetError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.regular import open_regular
from geolookup.store import follow

#: Bytes of a frame, and the compression level. The output stream of Arrow has no option for
#: the level; its level 1 gives files that are a seventh larger.
_FRAME, _LEVEL = 16 << 20, 6
_SUFFIX = ".tar.zst"
_OTHER_FORMATS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".mmdb")


def pack(
    dataset: str | os.PathLike[str], archive: str | os.PathLike[str], *, force: bool = False
) -> int:
    """Write a dataset into one archive file and return the size of that file in bytes.

    The archive is a tar file, compressed with Zstandard (RFC 8878), the manifest first; the
    same dataset gives the same bytes. ``dataset`` is a dataset folder, or a store: then its
    current generation is packed. With ``force`` an existing file is replaced. Raises
    DatasetError for a dataset that is missing or damaged, OutputError for an archive that
    exists, cannot be written, or has the suffix of another format. On an error no archive is left.
    """
    dataset, archive = Path(follow.folder(os.fspath(dataset))), Path(archive)
    _check_name(archive)
    described = described_files(read_manifest(dataset), dataset / fmt.MANIFEST, REBUILD)
    atomic.check_file(archive, force=force)
    with (
        atomic.staged_file(archive) as fresh,
        fresh.open("wb") as file,
        # In this format each member has exactly one header, whatever its size.
        tarfile.open(  # type: ignore[call-overload]  # the stream is written to only
            mode="w|",
            fileobj=_Compressed(file),
            format=tarfile.GNU_FORMAT,
            bufsize=_FRAME,
        ) as tar,
    ):
        _add_manifest(tar, dataset / fmt.MANIFEST)
        for name, (size, sha256) in sorted(described.items()):
            _add(tar, dataset / name, size, sha256)
    return archive.stat().st_size


def _check_name(archive: Path) -> None:
    """Raise OutputError for a name that promises a format which ``pack`` does not write."""
    if archive.suffix.casefold() in _OTHER_FORMATS:
        problem = f"pack writes {_SUFFIX}, not {archive.suffix}"
        raise OutputError(archive, problem, f"name a file that ends with {_SUFFIX}")


def _add_manifest(tar: tarfile.TarFile, path: Path) -> None:
    with readable(path), open_regular(path) as stream:
        text = stream.read()
    sha256 = hashlib.sha256(text).hexdigest()
    for name, content in ((fmt.MANIFEST, text), (MANIFEST_SUM, sum_line(sha256))):
        tar.addfile(_header(name, len(content)), io.BytesIO(content))


def _add(tar: tarfile.TarFile, path: Path, size: int, sha256: str) -> None:
    with readable(path):
        file = open_regular(path)
    with file:
        actual = os.fstat(file.fileno()).st_size
        if actual != size:
            problem = f"{actual} bytes, but the manifest says {size}"
            raise DatasetError(path, problem, REBUILD)
        digesting = _Digesting(path, file)
        tar.addfile(_header(path.name, size), digesting)  # type: ignore[arg-type]  # it reads only
    if digesting.sha256.hexdigest() != sha256:
        raise DatasetError(path, "damaged: its digest is not that of the manifest", REBUILD)


def _header(name: str, size: int) -> tarfile.TarInfo:
    """Return a header without owner and time."""
    header = tarfile.TarInfo(name)
    header.size, header.mode, header.mtime = size, 0o644, 0
    return header


class _Compressed:
    """An output file; each part written becomes a Zstandard frame."""

    def __init__(self, file: IO[bytes]) -> None:
        import pyarrow as pa

        self._file, self._codec = file, pa.Codec("zstd", compression_level=_LEVEL)

    def write(self, data: bytes) -> int:
        self._file.write(self._codec.compress(data, asbytes=True))
        return len(data)


class _Digesting:
    """An input file; its digest is computed as it is read."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        with readable(self._path):
            data = self._file.read(size)
        self.sha256.update(data)
        return data
