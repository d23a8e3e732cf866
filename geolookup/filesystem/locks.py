"""Locks between processes, and temporary files, whose lock shows that a process still writes them.

Whoever can open a file can lock it, and never release it. So only users who may write the folder of
a lock file can open it. The system releases a lock when its process ends.

A process holds the lock of its temporary file or folder while it writes:

1. It creates the file under a name with random digits, and locks it.
2. Between both another process may have swept it. If the name is gone, or is another file's, the
   process creates it again.
3. It writes the file and renames it. The end of the process, however it ends, frees the lock.
4. ``sweep`` locks each file of such a name without waiting, and removes those that it locked.

That lock is on the file or folder itself: no lock file remains. Windows and file systems
without such locks keep leftovers: there a free lock would prove nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path

from geolookup.filesystem.lock_waiting import TIMEOUT, lock, lock_waiting

_MARK = ".geolookup-"
#: Characters of the output in a temporary name: names have at most 255 bytes, characters 4.
_BEGIN = 50
_NAME = re.compile(rf"\..+{re.escape(_MARK)}[0-9a-f]{{16}}", re.DOTALL)
_LOCKS = os.name == "posix"
# O_NONBLOCK: opening a FIFO does not wait. O_NOFOLLOW: no symbolic link is followed.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def hold_lock(path: Path, default: float = TIMEOUT) -> Iterator[None]:
    """Hold the lock of a file, created if missing; wait while another process holds it.

    ``default`` is the limit of waiting in seconds, unless ``$GEOLOOKUP_LOCK_TIMEOUT`` is set.
    Raises OutputError after it, SettingsError if the variable is malformed.
    """
    with _open(path) as descriptor:
        lock_waiting(descriptor, path, default)
        yield


@contextmanager
def hold_lock_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock of a file, created if missing, and yield True; yield False if it is held."""
    with _open(path) as descriptor:
        yield lock(descriptor)


@contextmanager
def _open(path: Path) -> Iterator[int]:
    descriptor = os.open(path, _FLAGS | os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _LOCKS:
            _limit_access(descriptor, path.parent)
        yield descriptor
    finally:
        os.close(descriptor)  # releases the lock


def _limit_access(descriptor: int, folder: Path) -> None:
    """Let only users who may write a folder open its lock file; its owner decides."""
    file, parent = os.fstat(descriptor), folder.stat()
    if file.st_uid != os.geteuid():
        return
    is_shared = bool(parent.st_mode & stat.S_IWGRP)
    with suppress(OSError):  # a file system without modes, or a group of others
        if is_shared and file.st_gid != parent.st_gid:
            os.fchown(descriptor, -1, parent.st_gid)
        os.fchmod(descriptor, 0o660 if is_shared else 0o600)  # whatever the umask


def temporary_name(output: Path) -> Path:
    """Return an unused hidden name in the folder of ``output``.

    It begins as the name of ``output``, cut: names may be as long as the system allows.
    """
    return output.parent / f".{output.name[:_BEGIN]}{_MARK}{os.urandom(8).hex()}"


@contextmanager
def claim(fresh: Path, create: Callable[[], object]) -> Iterator[None]:
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
    """Return a descriptor that holds the lock, -1 without locks, None if it is gone."""
    if not _LOCKS:
        return -1
    try:
        descriptor = os.open(fresh, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError:  # a umask that forbids reading
        return -1
    with ExitStack() as stack:
        stack.callback(os.close, descriptor)
        with suppress(OSError):  # a file system without locks
            lock_waiting(descriptor, fresh, TIMEOUT)
        if _is_at(fresh, descriptor):
            stack.pop_all()
            return descriptor
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
        for path in [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_free(path)


@cache
def sweep_once(folder: Path) -> None:
    """Sweep a folder once in this process: some commands write many files into one folder."""
    sweep(folder)


def _remove_if_free(path: Path) -> None:
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if not lock(descriptor):
            return
        if stat.S_ISDIR(mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(mode):
            path.unlink()
    finally:
        os.close(descriptor)
