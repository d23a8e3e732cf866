"""How files are packed, by their names, and their plain bytes, unpacked no further than read.

``reading_errors`` turns the errors of all decompressors into one.
"""

from __future__ import annotations

import errno
import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any

from geolookup.errors import BuildError

#: The endings of the names of compressed files, and the short ones of tar archives.
COMPRESSED = (".gz", ".bz2", ".zst")
SHORT_TARS = {".tgz": ".gz", ".tbz2": ".bz2"}
ZIP = ".zip"
#: The endings of all packed files, the longest first.
PACKED = (*(f".tar{suffix}" for suffix in COMPRESSED), *SHORT_TARS, *COMPRESSED, ZIP)

#: What readers raise for damage, besides OSError.
DAMAGE = (
    *(EOFError, zlib.error),
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


def unpack_stream(packed: Any, ending: str) -> Any:
    """Return the plain bytes of a file that is compressed as its ``ending`` says, to be closed.

    Damage raises one of ``DAMAGE``.
    """
    if ending == ".gz":
        return gzip.open(packed)
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
