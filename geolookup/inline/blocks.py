"""The bytes of a text as they arrive: from a file, compressed or not, or from standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from geolookup.errors import TableFileError

STANDARD = "-"
#: The most bytes that are read at a time; few enough for a cache of the processor.
BLOCK = 1 << 19


def blocks_of(path: str) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input without waiting for more than there are.

    A suffix such as ``.gz`` names the compression. Raises TableFileError for a file that cannot
    be read, also where it is damaged.
    """
    return _standard_input() if path == STANDARD else _file(path)


def _standard_input() -> Iterator[bytes]:
    if not sys.stdin:  # a process may be started without it
        raise TableFileError("standard input", "is closed", "pipe a text into it")
    yield from iter(lambda: os.read(sys.stdin.fileno(), BLOCK), b"")


def _file(path: str) -> Iterator[bytes]:
    from geolookup.files.byte_streams import open_input
    from geolookup.files.row_streams import explained
    from geolookup.filesystem.unpacking import compression

    with open_input(path, compression(path)) as stream, explained(path, "file"):
        yield from iter(lambda: stream.plain.read(BLOCK), b"")
