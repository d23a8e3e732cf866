"""How files are packed, by their names, and their plain bytes, unpacked no further than read.

For bzip2 and LZMA the readers of the standard library accept dictionaries of any size, and skip
the bytes after the last stream of a file; ``Stepwise`` does neither.
``reading_errors`` turns the errors of all decompressors into one.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from typing import IO, Any, Protocol

from geolookup.errors import BuildError

#: The endings of the names of compressed files, and the short ones of tar archives.
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
SHORT_TARS = {".tgz": ".gz", ".tbz2": ".bz2", ".txz": ".xz"}
ZIP = ".zip"
#: The endings of all packed files, the longest first.
PACKED = (*(f".tar{suffix}" for suffix in COMPRESSED), *SHORT_TARS, *COMPRESSED, ZIP)

#: Memory for the dictionary of LZMA; ``xz -9`` needs half of it.
LZMA_MEMORY = 128 << 20
_CHUNK = 1 << 16
_PADDING = b"\0"  # which may follow each stream of an .xz file
#: What readers raise for damage, besides OSError.
DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError),
    UnicodeDecodeError,  # a name in the directory of a zip archive
)
_FETCH_AGAIN = "fetch it again"


def compression(path: str | PurePath) -> str | None:
    """Return the ending of a name that shows its compression; None if it has none."""
    ending = PurePath(path).suffix.lower()
    return ending if ending in COMPRESSED else None


def packing(path: PurePath) -> str:
    """Return the ending of a name that shows how the file is packed; empty if it is not."""
    name = path.name.lower()
    return next((ending for ending in PACKED if name.endswith(ending)), "")


class Unpacker(Protocol):
    """A decompressor of the standard library."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether it returns nothing without more compressed bytes."""

    @property
    def unused_data(self) -> bytes:
        """The bytes after the stream."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Unpack at most so many bytes."""


class Stepwise(io.RawIOBase):
    """One compressed stream, or several in a row; ``begun`` are its first bytes."""

    def __init__(
        self, packed: IO[bytes], unpacker: Callable[[], Unpacker], begun: bytes = b""
    ) -> None:
        super().__init__()
        self._packed, self._new_unpacker = packed, unpacker
        self._unpacker, self._ready = unpacker(), begun

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the compressed stream too."""
        self._packed.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, fewer only at the end; OSError for a damaged stream."""
        if size < 0:
            return self.readall() or b""
        parts = []
        while size and (part := self._next(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _next(self, most: int) -> bytes:
        """Unpack at least one byte, and at most so many; nothing at the end."""
        while not self._unpacker.eof or self._begin_next():
            if self._unpacker.needs_input and not self._ready:
                self._ready = self._packed.read(_CHUNK)
                if not self._ready:
                    raise OSError("Compressed file ended before the end of the stream")
            # The decompressor keeps the input, and returns its bytes in parts of at most ``most``.
            data, self._ready = self._ready, b""
            try:
                part = self._unpacker.decompress(data, most)
            except lzma.LZMAError as error:
                raise OSError(str(error)) from error
            if part:
                return part
        return b""

    def _begin_next(self) -> bool:
        """Begin the stream that follows; return whether there is one."""
        # .bz2 and .xz files may be several streams in a row, as after ``cat a.xz b.xz``.
        following = self._unpacker.unused_data
        # Past zeros, also in the next chunk, to the first byte of a stream.
        while not (following := following.lstrip(_PADDING)):
            if not (following := self._packed.read(_CHUNK)):
                return False
        self._unpacker, self._ready = self._new_unpacker(), following
        return True


def unpack_stream(packed: Any, ending: str) -> Any:
    """Return the plain bytes of a file that is compressed as its ``ending`` says, to be closed.

    Reading an .xz file needs at most ``LZMA_MEMORY``. Damage raises one of ``DAMAGE``.
    """
    if ending == ".gz":
        return gzip.open(packed)
    if ending == ".bz2":
        return Stepwise(packed, bz2.BZ2Decompressor)
    if ending == ".xz":
        return Stepwise(packed, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, LZMA_MEMORY))
    import pyarrow as pa

    return pa.CompressedInputStream(packed, "zstd")


@contextmanager
def reading_errors(label: str) -> Iterator[None]:
    """Turn what files and decompressors raise into a BuildError that names ``label``."""
    try:
        yield
    except DAMAGE as error:
        problem = f"truncated or damaged ({error})"
        raise BuildError(label, problem, remedy=_FETCH_AGAIN) from error
    except OSError as error:
        text = error.strerror or str(error)
        # A decompressor sets no errno; EINVAL comes from an offset that an archive states.
        if error.errno in (None, errno.EINVAL):
            problem = f"truncated or damaged ({text})"
            raise BuildError(label, problem, remedy=_FETCH_AGAIN) from error
        remedy = "check its name and permissions"
        raise BuildError(label, f"cannot be read ({text})", remedy=remedy) from error
