"""The files of a dataset, hard-linked or copied into a new folder."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from geolookup.errors import REBUILD, DatasetError
from geolookup.filesystem import atomic
from geolookup.filesystem.regular import open_regular


def link_or_copy(source: Path, target: Path, *, copy: bool) -> None:
    """Link a file of a dataset, or copy it where the system cannot or ``copy`` is true; sync it."""
    if not source.is_file():
        raise DatasetError(source, "missing", REBUILD)
    # A hard link to a symbolic link would point outside the store.
    if not copy and not source.is_symlink():
        with contextlib.suppress(OSError):  # another file system, or one without hard links
            target.hardlink_to(source)
    if not target.exists():
        _copy(source, target)
    atomic.fsync_file(target)


def _copy(source: Path, target: Path) -> None:
    try:
        stream = open_regular(source)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise DatasetError(source, problem, "check its permissions") from error
    with stream, target.open("xb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
