"""Standard input as a stream whose first bytes show its compression; without Arrow."""

from __future__ import annotations

import sys
from io import BufferedReader, FileIO
from typing import Any

from geolookup.errors import TableFileError
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.filesystem.unpacking import COMPRESSED

#: The path of standard input or output.
STANDARD = "-"


def standard_input(size: int) -> tuple[Any, str | None]:
    """Return standard input with a buffer of a size, and the ending that names its compression.

    It waits for the first bytes. Raises TableFileError if it is closed.
    """
    if not sys.stdin:  # a process may be started without it
        raise TableFileError("standard input", "is closed", "pipe a file into it")
    # Only the main thread reads it: Python aborts at exit while a thread waits for a pipe.
    stream = BufferedReader(FileIO(sys.stdin.fileno(), closefd=False), size)
    kind = looks_like(stream.peek(START_BYTES)[:START_BYTES])
    ending = kind.endings[0] if kind and kind.endings else ""
    return stream, ending if ending in COMPRESSED else None
