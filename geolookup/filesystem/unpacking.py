"""How files are packed, by their names, and their plain bytes, unpacked no further than read.

``reading_errors`` turns the errors of all decompressors into one.
"""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePath
from typing import IO, Any

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
#: What readers raise for damage, besides OSError.
DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError),
    UnicodeDecodeError,  # a name in the directory of a zip archive
)


def compression(path: str | PurePath) -> str | None:
    """Return the ending of a name that shows its compression; None if it has none."""
    ending = PurePath(path).suffix.lower()
    return ending if ending in COMPRESSED else None


def packing(path: PurePath) -> str:
    """Return the ending of a name that shows how the file is packed; empty if it is not."""
    name = path.name.lower()
    return next((ending for ending in PACKED if name.endswith(ending)), "")


_xz_unpacker = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, LZMA_MEMORY)


class _XzFile(io.RawIOBase):
    """An .xz file of one or several streams in a row, as after ``cat a.xz b.xz``.

    ``lzma.open`` accepts dictionaries of any size, and skips the bytes after the last stream.
    """

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__()
        self._packed, self._ready, self._unpacker = packed, b"", _xz_unpacker()

    def readable(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close the compressed file too."""
        self._packed.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Unpack at least one byte; none at the end."""
        while not self._unpacker.eof or self._begin_next():
            if self._unpacker.needs_input and not self._ready:
                self._ready = self._packed.read(_CHUNK)
                if not self._ready:
                    raise EOFError("Compressed file ended before the end of the stream")
            # The decompressor keeps the input, and returns its bytes in parts.
            data, self._ready = self._ready, b""
            if part := self._unpacker.decompress(data, len(buffer)):
                buffer[: len(part)] = part
                return len(part)
        return 0

    def _begin_next(self) -> bool:
        """Begin the stream that follows, after zeros; return whether there is one."""
        following = self._unpacker.unused_data
        while not (following := following.lstrip(b"\0")):
            if not (following := self._packed.read(_CHUNK)):
                return False
        self._unpacker, self._ready = _xz_unpacker(), following
        return True


def unpack_stream(packed: Any, ending: str) -> Any:
    """Return the plain bytes of a file that is compressed as its ``ending`` says, to be closed.

    Reading an .xz file needs at most ``LZMA_MEMORY``. Damage raises one of ``DAMAGE``.
    """
    if ending == ".gz":
        return gzip.open(packed)
    if ending == ".xz":
        return io.BufferedReader(_XzFile(packed))
    import pyarrow as pa

    return pa.CompressedInputStream(packed, {".bz2": "bz2", ".zst": "zstd"}[ending])


@contextmanager
def reading_errors(label: str) -> Iterator[None]:
    """Turn what files and decompressors raise into a BuildError that names ``label``."""
    try:
        yield
    except (OSError, *DAMAGE) as error:
        text = getattr(error, "strerror", None) or str(error)
        # A decompressor sets no errno; EINVAL comes from an offset that an archive states.
        if getattr(error, "errno", None) in (None, errno.EINVAL):
            problem, remedy = f"truncated or damaged ({text})", "fetch it again"
        else:
            problem, remedy = f"cannot be read ({text})", "check its name and permissions"
        raise BuildError(label, problem, remedy=remedy) from error
