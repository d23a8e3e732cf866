"""Temporary files and folders, and what killed processes leave of them.

A process holds the lock of its temporary file or folder while it writes, and the system releases
the lock when the process ends. What has such a name and a free lock belongs to no process.

The lock is ``flock`` on the file or folder itself, so that no lock file remains. Windows and file
systems without such locks keep leftovers: there a free lock would prove nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from geolookup.filesystem.lock import lock_now, lock_waiting

_MARK = ".geolookup-"
#: Characters of the output in a temporary name: names have at most 255 bytes, characters 4.
_BEGIN = 50
_NAME = re.compile(rf"\..+{re.escape(_MARK)}[0-9a-f]{{16}}", re.DOTALL)
_LOCKS = os.name == "posix"
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


def temporary_name(output: Path) -> Path:
    """Return an unused hidden name in the folder of ``output``.

    It begins as the name of ``output`` does, which may be as long as a name can be.
    """
    return output.parent / f".{output.name[:_BEGIN]}{_MARK}{os.urandom(8).hex()}"


@contextmanager
def claimed(fresh: Path, create: Callable[[], object]) -> Iterator[None]:
    """Create a temporary file or folder, and hold its lock for the block."""
    descriptor = None
    while descriptor is None:  # again where another process removed it before it was locked
        create()
        descriptor = _claim(fresh)
    try:
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # releases the lock


def _claim(fresh: Path) -> int | None:
    """Return a descriptor that holds the lock, -1 where there are no locks, None if it is gone."""
    if not _LOCKS:
        return -1
    try:
        descriptor = os.open(fresh, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError:  # a umask that forbids reading
        return -1
    with suppress(OSError):  # a file system without locks
        lock_waiting(descriptor)
    if _is_at(fresh, descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders in a folder that no process holds."""
    if not _LOCKS:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(each.path) for each in entries if _NAME.fullmatch(each.name)]:
            with suppress(OSError):
                _remove_if_free(path)


@cache
def sweep_once(folder: Path) -> None:
    """Sweep a folder once in this process: some commands write many files into one folder."""
    sweep(folder)


def _remove_if_free(path: Path) -> None:
    descriptor = os.open(path, _FLAGS)
    try:
        lock_now(descriptor)
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(mode):
            path.unlink()
    finally:
        os.close(descriptor)
