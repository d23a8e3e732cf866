"""What files and decompressors raise, as one error that names the file.

A module of its own: downloads need it, and load none of the readers, which load Arrow.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from geolookup.errors import BuildError

_DAMAGE = (
    *(EOFError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, gzip.BadGzipFile, tarfile.TarError),
    UnicodeDecodeError,  # a name in the directory of a zip archive
)
_FETCH_AGAIN = "fetch it again"


@contextmanager
def reading_errors(label: str) -> Iterator[None]:
    """Turn what files and decompressors raise into a BuildError that names ``label``."""
    try:
        yield
    except _DAMAGE as error:
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
