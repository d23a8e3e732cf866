"""The members of an archive, read in order from a tar file compressed with Zstandard.

Strategy: an archive is untrusted. ``pack`` writes one header for a name and a size, so a reader
makes the same header and compares all of its 512 bytes. Links, folders, extended headers, negative
sizes and names of other encodings differ, and are never interpreted. The size of a member is
bounded before it is read: by a limit (``text``), or by the manifest (``content``).
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors, open_regular
from geolookup.store import pointer

#: The suffix of archives.
SUFFIX = pointer.SUFFIX
#: The end of a tar archive: two blocks of zeros.
END = bytes(2 * tarfile.BLOCKSIZE)
#: The remedy for an archive that is damaged.
AGAIN = "fetch it again"
_CHUNK = 1 << 20


def header(name: str, size: int) -> bytes:
    """Return the header of a member: a plain file without owner and time."""
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o644, 0
    return member.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def padding(size: int) -> bytes:
    """Return the zeros after the content of a member, up to the next block: 12 after 500 bytes."""
    return bytes(-size % tarfile.BLOCKSIZE)


@contextmanager
def open_members(archive: Path) -> Iterator[Members]:
    """Yield the members of an archive; DatasetError if it cannot be read."""
    import pyarrow as pa

    with ReadErrors(archive):
        file = open_regular(archive)
    with file, pa.input_stream(file, compression="zstd") as stream:
        yield Members(archive, stream)


class Members:
    """The members of an archive, in order; any that ``pack`` does not write is refused."""

    def __init__(self, archive: Path, stream: IO[bytes]) -> None:
        self.archive, self._stream = archive, stream
        self._ahead: tuple[str, int] | None = None

    def error(self, problem: str) -> DatasetError:
        """Return the error for an archive with this problem."""
        return DatasetError(self.archive, problem, AGAIN)

    def next_name(self) -> str:
        """Return the name of the next member, which stays the next; empty at the end."""
        return self._next()[0]

    def text(self, name: str, limit: int) -> bytes:
        """Return the content of the next member, which has this name and at most ``limit`` bytes.

        Raises DatasetError for another member.
        """
        size = self._size_of(name)
        if size > limit:
            raise self.error(f"{name} has {size:,} bytes, more than {limit:,}")
        return b"".join(self._content(size))

    def content(self, name: str, size: int) -> Iterator[bytes]:
        """Yield the content of the next member, which has this name and size.

        Raises DatasetError for another member.
        """
        actual = self._size_of(name)
        if actual != size:
            raise self.error(f"{name} has {actual:,} bytes, but the manifest says {size:,}")
        yield from self._content(size)

    def check_end(self) -> None:
        """Raise DatasetError for a further member."""
        if name := self.next_name():
            raise self.error(f"unexpected member {name!r}")

    def _size_of(self, name: str) -> int:
        """Return the size of the next member, whose content is read next."""
        actual, size = self._next()
        if actual != name:
            problem = f"unexpected member {actual!r} before" if actual else "lacks"
            raise self.error(f"{problem} {name}")
        self._ahead = None
        return size

    def _next(self) -> tuple[str, int]:
        if self._ahead is None:
            self._ahead = self._read_header()
        return self._ahead

    def _read_header(self) -> tuple[str, int]:
        """Return name and size of a member; of the end, no name."""
        block = self._exactly(tarfile.BLOCKSIZE)
        if not any(block):
            if block + self._read(len(END)) != END:  # reads further than the end
                raise self.error("does not end as an archive of 'geolookup pack' does")
            return "", 0
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
            is_ours = member.size >= 0 and header(member.name, member.size) == block
        except (tarfile.TarError, ValueError):
            raise self.error("not an archive that 'geolookup pack' wrote") from None
        if not is_ours:
            raise self.error(f"{member.name!r} is not a plain member as 'geolookup pack' writes it")
        return member.name, member.size

    def _content(self, size: int) -> Iterator[bytes]:
        for begin in range(0, size, _CHUNK):
            yield self._exactly(min(_CHUNK, size - begin))
        if any(self._exactly(len(padding(size)))):
            raise self.error("has bytes between its members")

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
