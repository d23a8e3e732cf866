"""Writing an archive: a tar file, compressed with Zstandard, of the same bytes each time."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from geolookup.archives.members import readable
from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem.regular import open_regular

#: Bytes of a frame, and the compression level. The output stream of Arrow has no option for
#: the level; its level 1 gives files that are a seventh larger.
_FRAME, _LEVEL = 16 << 20, 6


@contextmanager
def written(archive: Path) -> Iterator[Output]:
    """Yield what adds members to a new archive; its end is written after the block."""
    with (
        archive.open("wb") as file,
        # In this format each member has exactly one header, whatever its size.
        tarfile.open(  # type: ignore[call-overload]  # the stream is written to only
            mode="w|",
            fileobj=_Compressed(file),
            format=tarfile.GNU_FORMAT,
            bufsize=_FRAME,
        ) as tar,
    ):
        yield Output(tar)


class Output:
    """An archive that is being written."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar

    def add(self, name: str, content: bytes) -> None:
        """Add a member."""
        self._tar.addfile(_header(name, len(content)), io.BytesIO(content))

    def add_file(self, path: Path, size: int, sha256: str) -> None:
        """Add a file of a dataset; DatasetError unless it has this size and digest."""
        with readable(path):
            file = open_regular(path)
        with file:
            actual = os.fstat(file.fileno()).st_size
            if actual != size:
                problem = f"{actual} bytes, but the manifest says {size}"
                raise DatasetError(path, problem, REBUILD)
            digesting = _Digesting(path, file)
            member = _header(path.name, size)
            self._tar.addfile(member, digesting)  # type: ignore[arg-type]  # it reads only
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
