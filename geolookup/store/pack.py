"""A dataset as one file: a tar archive, compressed with Zstandard, manifest first.

Strategy: an archive is untrusted. It may contain only the manifest, its digest and the files
that the manifest describes; ``unpack`` stops at any other member, and does not interpret links
or extended headers. Files are written to a staging directory while they are read, and their
digests are computed. The directory is renamed into place if all sizes and digests are right
and ``verify`` finds no damage. Before a file is written, the sizes that the manifest states are
compared with the size of the archive and with the free space.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest, is_dataset, read_manifest
from geolookup.errors import REBUILD, DatasetError, OutputError
from geolookup.filesystem import atomic, limits
from geolookup.filesystem.regular import open_regular
from geolookup.store import follow

_CHUNK = 1 << 20
#: Bytes of a frame, and the compression level. The output stream of Arrow has no option for
#: the level; its level 1 gives files that are a seventh larger.
_FRAME, _LEVEL = 16 << 20, 6
#: The digest of the manifest, in the format of sha256sum. It is the member after the manifest,
#: which holds the digests of all other files.
_MANIFEST_SUM = f"{fmt.MANIFEST}.sha256"
#: Bytes; much more than a manifest of 254 sources has.
_LARGEST_MANIFEST = 1 << 24
_SUFFIX = ".tar.zst"
_OTHER_FORMATS = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".mmdb")
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_AGAIN = "fetch it again"
_REPACK = "pack it again with 'geolookup pack'"


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
    described = _described(read_manifest(dataset), dataset / fmt.MANIFEST, REBUILD)
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
    with _members(archive) as members, atomic.staged_folder(output) as folder:
        missing = _described(_take_manifest(members, folder), archive, _REPACK)
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


def _described(manifest: Manifest, path: Path, remedy: str) -> dict[str, tuple[int, str]]:
    """Return size and digest of each file that a manifest describes."""
    if manifest.file_names not in ({*fmt.FILES}, {*fmt.FILES, *fmt.EXPLAINING}):
        raise DatasetError(path, "the manifest lists other files than those of a dataset", remedy)
    described = {}
    for name in manifest.file_names:
        file = manifest.file(name)
        if file is None or file.bytes is None or not isinstance(file.sha256, str):
            raise DatasetError(path, "the manifest is damaged", remedy)
        described[name] = file.bytes, file.sha256
    return described


# --- packing


def _add_manifest(tar: tarfile.TarFile, path: Path) -> None:
    with _readable(path), open_regular(path) as stream:
        text = stream.read()
    sha256 = hashlib.sha256(text).hexdigest()
    for name, content in ((fmt.MANIFEST, text), (_MANIFEST_SUM, _sum_line(sha256))):
        tar.addfile(_header(name, len(content)), io.BytesIO(content))


def _sum_line(sha256: str) -> bytes:
    return f"{sha256}  {fmt.MANIFEST}\n".encode()


def _add(tar: tarfile.TarFile, path: Path, size: int, sha256: str) -> None:
    with _readable(path):
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
        with _readable(self._path):
            data = self._file.read(size)
        self.sha256.update(data)
        return data


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn an OSError into a DatasetError that names ``path``."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be read ({error.strerror or error})"
        raise DatasetError(path, problem, "check its name and permissions") from error


# --- unpacking


def _take_manifest(members: _Members, folder: Path) -> Manifest:
    """Write the manifest at the beginning of an archive, and return it."""
    first = members.next()
    if first is None or first.name != fmt.MANIFEST or first.size > _LARGEST_MANIFEST:
        raise members.refused(f"does not begin with the {fmt.MANIFEST} of a dataset")
    expected = _sum_line(_write(folder / fmt.MANIFEST, members.data(first)))
    second = members.next()
    if second is None or second.name != _MANIFEST_SUM or second.size != len(expected):
        raise members.refused(f"{_MANIFEST_SUM} is missing")
    if b"".join(members.data(second)) != expected:
        raise members.refused(
            f"{fmt.MANIFEST} is damaged: its digest is not that of {_MANIFEST_SUM}"
        )
    try:
        return read_manifest(folder)
    except DatasetError as error:
        raise DatasetError(members.archive, error.problem, _REPACK) from None


def _check_size(members: _Members, output: Path, size: int) -> None:
    """Raise an error if the files are more than the archive may hold, or the disk can take."""
    if size > limits.allowed_bytes(members.archive.stat().st_size):
        raise members.refused(limits.excess())
    limits.check_space(output, size)


def _take(members: _Members, member: tarfile.TarInfo, path: Path, size: int, sha256: str) -> None:
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


@contextmanager
def _members(archive: Path) -> Iterator[_Members]:
    import pyarrow as pa

    with (
        _readable(archive),
        open_regular(archive) as file,
        pa.input_stream(file, compression="zstd") as stream,
    ):
        yield _Members(archive, stream)


class _Members:
    """The regular files of an archive, in order; other members are refused.

    Headers that extend other headers (long names, links, sparse files) are refused by their
    type and never interpreted.
    """

    def __init__(self, archive: Path, stream: IO[bytes]) -> None:
        self.archive, self._stream = archive, stream

    def refused(self, problem: str) -> DatasetError:
        return DatasetError(self.archive, problem, _AGAIN)

    def next(self) -> tarfile.TarInfo | None:
        """Return the next member, or None; read its data before the next call."""
        block = self._exactly(tarfile.BLOCKSIZE)
        if not any(block):
            self._check_end()
            return None
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.TarError, ValueError):
            raise self.refused("not an archive that 'geolookup pack' wrote") from None
        if member.type not in _PLAIN or member.size < 0:
            raise self.refused(f"{member.name!r} is not a regular file")
        return member

    def data(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        """Yield the bytes of the current member."""
        for begin in range(0, member.size, _CHUNK):
            yield self._exactly(min(_CHUNK, member.size - begin))
        self._exactly(-member.size % tarfile.BLOCKSIZE)

    def _check_end(self) -> None:
        """Check that only padding follows the end of the archive."""
        rest = self._read(_CHUNK)
        if any(rest) or not tarfile.BLOCKSIZE <= len(rest) < _CHUNK:
            raise self.refused("does not end as a tar archive does")

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise self.refused("truncated")
        return data

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, ValueError) as error:  # the base classes of Arrow's errors
            problem = f"truncated or damaged ({str(error).splitlines()[0]})"
            raise self.refused(problem) from error
