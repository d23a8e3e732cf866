"""Locks between processes, and temporary files, whose lock shows that a process still writes them.

A lock is ``flock``, on Windows ``msvcrt.locking`` of the first byte. The system releases it when
its process ends. A process holds the lock of its temporary file or folder while it writes:

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
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_MARK = ".geolookup-"
#: Characters of the output in a temporary name: names have at most 255 bytes, characters 4.
_BEGIN = 50
_NAME = re.compile(rf"\..+{re.escape(_MARK)}[0-9a-f]{{16}}", re.DOTALL)
_LOCKS = os.name == "posix"
# O_NONBLOCK: opening a FIFO does not wait. O_NOFOLLOW: no symbolic link is followed.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, created if missing; wait while another process holds it."""
    with _open(path) as descriptor:
        lock_waiting(descriptor)
        yield


@contextmanager
def hold_lock_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock of a file, created if missing, and yield True; yield False if it is held."""
    with _open(path) as descriptor:
        try:
            lock_now(descriptor)
        # flock raises BlockingIOError, msvcrt PermissionError.
        except (BlockingIOError, PermissionError):
            yield False
        else:
            yield True


@contextmanager
def _open(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # releases the lock


if sys.platform == "win32":
    import msvcrt

    def lock_waiting(descriptor: int) -> None:
        """Lock an open file; wait while another process holds the lock."""
        while True:  # each call gives up after ten seconds
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            except OSError:
                continue

    def lock_now(descriptor: int) -> None:
        """Lock an open file; OSError while another process holds the lock."""
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def lock_waiting(descriptor: int) -> None:
        """Lock an open file or folder; wait while another process holds the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def lock_now(descriptor: int) -> None:
        """Lock an open file or folder; OSError while another process holds the lock."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


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
        # OSError if a process holds it: ``sweep`` then leaves it.
        lock_now(descriptor)
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(mode):
            path.unlink()
    finally:
        os.close(descriptor)
