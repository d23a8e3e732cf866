"""Files of a dataset, copied to a folder that is not yet in use, and synced."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import ReadErrors, atomic, open_regular
from geolookup.filesystem.ownership import create


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
        if sys.platform == "linux":
            # By copy_file_range(2), a reflink on btrfs and XFS, all that the system can.
            with suppress(OSError):
                descriptors = stream.fileno(), file.fileno()
                while count := os.copy_file_range(*descriptors, min(size, 1 << 30)):
                    size -= count
        while chunk := stream.read(min(size, 1 << 20)):  # up to ``size``: the file may grow
            file.write(chunk)
            size -= len(chunk)
    atomic.fsync(target)
