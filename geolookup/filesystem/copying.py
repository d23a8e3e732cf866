"""Files of a dataset, written or copied to a folder that is not yet in use, and synced."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import ReadErrors, atomic, open_regular
from geolookup.filesystem.ownership import create


def write_file(path: Path, content: bytes) -> None:
    """Write a new file."""
    with create(path) as file:
        file.write(content)
        atomic.sync(file)


def copy_file(source: Path, target: Path, size: int) -> None:
    """Copy a file of a dataset; DatasetError if it is missing or has more than ``size`` bytes.

    Not a hard link: a writer of the source could change the file after it was verified.
    """
    if not source.is_file():
        raise DatasetError(source, "missing", REBUILD)
    with ReadErrors(source):
        stream = open_regular(source)
    with stream, create(target) as file:
        actual = os.fstat(stream.fileno()).st_size
        if actual > size:  # else a file of holes could fill the disk
            problem = f"{actual:,} bytes, but the manifest says {size:,}"
            raise DatasetError(source, problem, REBUILD)
        size -= _share_blocks(stream, file, size)
        while chunk := stream.read(min(size, 1 << 20)):  # up to ``size``: the file may grow
            file.write(chunk)
            size -= len(chunk)
        atomic.sync(file)


def _share_blocks(stream: BinaryIO, file: BinaryIO, size: int) -> int:
    """Copy all that the system can, and return the number of bytes.

    By copy_file_range(2), a reflink on btrfs and XFS. The caller copies all other bytes.
    """
    left = size
    if sys.platform == "linux":
        with suppress(OSError):
            while count := os.copy_file_range(stream.fileno(), file.fileno(), min(left, 1 << 30)):
                left -= count
    return size - left
