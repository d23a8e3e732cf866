"""Opening the files that a user names: regular files, or an error at once.

A FIFO blocks until another process writes, a device may never end, and opening a device may act
on it. A symbolic link to a regular file counts as that file.
"""

from __future__ import annotations

import errno
import os
import stat

from geolookup.errors import DatasetError, KeyFileError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import BinaryIO

#: A FIFO or a terminal that replaces the file after the check does neither block nor stay.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
NOT_REGULAR = "not a regular file"
NUL_IN_NAME = "the name contains a NUL character"


class ReadErrors:
    """A context that turns an OSError into an error that names the file, by default DatasetError.

    A class, because the module contextlib costs a cold start more than this.
    """

    __slots__ = ("_kind", "_path")

    def __init__(
        self, path: str | os.PathLike[str], kind: type[DatasetError | KeyFileError] = DatasetError
    ) -> None:
        self._path, self._kind = path, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _traceback: object) -> None:
        if isinstance(error, OSError):
            problem = f"cannot be read ({error.strerror or error})"
            raise self._kind(self._path, problem, "check its name and permissions") from error


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; OSError for anything else, without waiting."""
    try:
        return open(path, "rb", opener=opener)
    except ValueError:
        check_regular(path)  # it raises: no system call takes such a name
        raise


def opener(path: str, flags: int) -> int:
    """Return a descriptor of a regular file, as the ``opener`` of ``open``."""
    check_regular(path)
    descriptor = os.open(path, flags | _AT_ONCE)
    try:
        check_regular(descriptor)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(file: str | os.PathLike[str] | int) -> os.stat_result:
    """Return the status of a regular file, by path or descriptor; OSError for anything else."""
    try:
        status = os.stat(file)  # noqa: PTH116 - as ``open``, it takes a path of any kind
    except ValueError as error:  # of a lone surrogate it states a reason
        raise OSError(errno.EINVAL, getattr(error, "reason", NUL_IN_NAME), file) from None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), file)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.ENOTSUP, NOT_REGULAR, file)
    return status
