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
    """Return the header of a member: a plain file of mode 0644, without owner and time.

    In GNU's format (manual of GNU tar, "Basic Tar Format"). Written out here: ``tarfile`` of Python
    3.9 wrote other bytes than 3.8.
    """
    mode, owner, time = b"0000644\0", b"0000000\0" * 2, b"00000000000\0"
    digits = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    begin = name.encode().ljust(100, b"\0") + mode + owner + digits + time
    end = b"0" + bytes(100) + b"ustar  \0" + bytes(247)
    # The checksum counts its own eight bytes as blanks.
    return begin + b"%06o\0 " % (sum(begin) + sum(b" " * 8) + sum(end)) + end


def padding(size: int) -> bytes:
    """Return the zeros after the content of a member, up to the next block: 12 after 500 bytes."""
    return bytes(-size % tarfile.BLOCKSIZE)


@contextmanager
def open_members(archive: Path) -> Iterator[Members]:
    """Yield the members of an archive; DatasetError if it cannot be read."""
    with ReadErrors(archive):
        file = open_regular(archive)
    import pyarrow as pa  # slow: folders and missing files need none

    with file, pa.input_stream(file, compression="zstd") as stream:
        yield Members(archive, stream)


class Members:
    """The members of an archive, in order; any that ``pack`` does not write is refused.

    ``next_name`` is the name of the member that is read next; empty at the end.
    """

    def __init__(self, archive: Path, stream: IO[bytes]) -> None:
        self.archive, self._stream = archive, stream
        self.next_name, self._size = self._header()

    def error(self, problem: str) -> DatasetError:
        """Return the error for an archive with this problem."""
        return DatasetError(self.archive, problem, AGAIN)

    def text(self, name: str, limit: int) -> bytes:
        """Return the content of the next member, which has this name and at most ``limit`` bytes.

        Raises DatasetError for another member.
        """
        self.expect(name)
        if self._size > limit:
            raise self.error(f"{name} has {self._size:,} bytes, more than {limit:,}")
        return b"".join(self._content())

    def content(self, name: str, size: int) -> Iterator[bytes]:
        """Yield the content of the next member, which has this name and size.

        Raises DatasetError for another member.
        """
        self.expect(name)
        if self._size != size:
            problem = f"{name} has {self._size:,} bytes, but the manifest says {size:,}"
            raise self.error(problem)
        yield from self._content()

    def expect(self, name: str) -> None:
        """Raise DatasetError unless the next member has this name; the end has an empty one."""
        if self.next_name != name:
            problem = f"unexpected member {self.next_name!r}" if self.next_name else f"lacks {name}"
            raise self.error(problem)

    def _header(self) -> tuple[str, int]:
        """Return name and size of a member; of the end, no name."""
        block = self._exactly(tarfile.BLOCKSIZE)
        if not any(block):
            if block + self._read(len(END)) != END:  # reads further than the end
                raise self.error("does not end as an archive of 'geolookup mirror pack' does")
            return "", 0
        try:
            member = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
            is_ours = 0 <= member.size < 1 << 63 and header(member.name, member.size) == block
        except (tarfile.TarError, ValueError):
            raise self.error("not an archive that 'geolookup mirror pack' wrote") from None
        if not is_ours:
            raise self.error(
                f"{member.name!r} is not a plain member as 'geolookup mirror pack' writes it"
            )
        return member.name, member.size

    def _content(self) -> Iterator[bytes]:
        """Yield the content of the next member, and go on to the one after it."""
        for begin in range(0, self._size, _CHUNK):
            yield self._exactly(min(_CHUNK, self._size - begin))
        if any(self._exactly(len(padding(self._size)))):
            raise self.error("has bytes between its members")
        self.next_name, self._size = self._header()

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
