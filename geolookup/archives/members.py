"""The members of an archive: their names, and how they are read.

Strategy: an archive is untrusted. Only regular files are members; links and extended headers are
refused by their type and never interpreted. The size of a member is bounded before it is read: by a
limit (``text``), or by the manifest.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, open_regular
from geolookup.store.pointer import DELTA_SUFFIX

#: The suffix of archives.
SUFFIX = DELTA_SUFFIX
_CHUNK = 1 << 20
#: The digest of the manifest, in the format of sha256sum; the member after the manifest. The
#: manifest holds the digests of all other files.
MANIFEST_SUM = f"{fmt.MANIFEST}.sha256"
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
#: The remedy for an archive that is damaged.
AGAIN = "fetch it again"


def sum_line(sha256: str) -> bytes:
    """Return the content of the member ``MANIFEST_SUM``."""
    return f"{sha256}  {fmt.MANIFEST}\n".encode()


def described_files(manifest: Manifest, path: Path, remedy: str) -> dict[str, tuple[int, str]]:
    """Return size and digest of each file that a manifest describes."""
    if manifest.file_names != set(manifest.expected_files):
        raise DatasetError(path, "the files in the manifest are not the files of a dataset", remedy)
    files = {}
    for name in manifest.file_names:
        file = manifest.file(name)
        if file is None or file.bytes is None or not isinstance(file.sha256, str):
            raise DatasetError(path, "the manifest is damaged", remedy)
        files[name] = file.bytes, file.sha256
    return files


@contextmanager
def open_members(archive: Path) -> Iterator[Members]:
    """Yield the members of an archive; DatasetError if it cannot be read."""
    import pyarrow as pa

    with (
        ReadErrors(archive),
        open_regular(archive) as file,
        pa.input_stream(file, compression="zstd") as stream,
    ):
        yield Members(archive, stream)


class Members:
    """The regular files of an archive, in order; other members are refused.

    Headers that extend other headers (long names, links, sparse files) are refused by their
    type and never interpreted.
    """

    def __init__(self, archive: Path, stream: IO[bytes]) -> None:
        self.archive, self._stream = archive, stream
        self._ahead: tarfile.TarInfo | None = None
        self._at_end = False

    def error(self, problem: str) -> DatasetError:
        """Return the error for an archive with this problem."""
        return DatasetError(self.archive, problem, AGAIN)

    def next(self) -> tarfile.TarInfo | None:
        """Return the next member, or None; read its data before the next call."""
        if (member := self._ahead) is not None:
            self._ahead = None
            return member
        if self._at_end:
            return None
        block = self._exactly(tarfile.BLOCKSIZE)
        # A tar archive ends with two blocks of zeros; the second is read as padding.
        if not any(block):
            self._check_end()
            self._at_end = True
            return None
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.TarError, ValueError):
            raise self.error("not an archive that 'geolookup pack' wrote") from None
        # Sizes in base 256 (GNU) may be negative.
        if member.type not in _PLAIN or member.size < 0:
            raise self.error(f"{member.name!r} is not a regular file")
        return member

    def text(self, name: str, limit: int) -> bytes | None:
        """Return the content of the next member, if it has this name and at most ``limit`` bytes.

        Otherwise return None; that member is then still the next.
        """
        self._ahead = member = self.next()
        if member is None or member.name != name or member.size > limit:
            return None
        self._ahead = None
        return b"".join(self.data(member))

    def data(self, member: tarfile.TarInfo) -> Iterator[bytes]:
        """Yield the bytes of the current member."""
        for begin in range(0, member.size, _CHUNK):
            yield self._exactly(min(_CHUNK, member.size - begin))
        # Padding to 512 bytes: -700 % 512 is 324.
        self._exactly(-member.size % tarfile.BLOCKSIZE)

    def _check_end(self) -> None:
        """Check that only padding follows the end of the archive."""
        padding = self._read(_CHUNK)
        # At least the second block of zeros, and less than 1 MiB of padding.
        if any(padding) or not tarfile.BLOCKSIZE <= len(padding) < _CHUNK:
            raise self.error("does not end as a tar archive does")

    def _exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) < size:
            raise self.error("truncated")
        return data

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (OSError, ValueError) as error:  # the base classes of Arrow's errors
            problem = f"truncated or damaged ({str(error).splitlines()[0]})"
            raise self.error(problem) from error
