"""Locks between processes, and temporary folders: a lock shows that a process writes one.

Whoever can open a file can lock it, and never release it. So only users who may write the folder of
a lock file can open it. The system releases a lock when its process ends. A lock is ``flock``, on
Windows ``msvcrt.locking`` of the first byte.

A process holds the lock of its temporary folder while it writes:

1. It creates the folder under a name with random digits, and locks it. If another process swept the
   folder before, it creates another one.
2. It renames what it wrote. The end of the process, however it ends, frees the lock.
3. ``sweep`` locks each folder of such a name without waiting, and removes those that it locked.

Windows and file systems without locks of folders keep leftovers: a free lock would prove nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from geolookup.errors import OutputError

#: Seconds to wait for a lock, until the log states that it is held, and between two attempts.
PATIENCE, NOTICE, _POLL = 60.0, 2.0, 0.05
_LOCKED = "locked by another process"
#: Characters of the output in a temporary name: names have at most 255 bytes, characters 4.
_BEGIN = 50
_NAME = re.compile(r"\..+\.geolookup-[0-9a-f]{16}", re.DOTALL)
# O_NONBLOCK: opening a FIFO does not wait. O_NOFOLLOW: no symbolic link is followed.
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)

if sys.platform == "win32":
    import msvcrt

    def _lock_now(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_now(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock(descriptor: int) -> bool:
    """Lock an open file or folder; return False while another process holds the lock."""
    try:
        _lock_now(descriptor)
    except (BlockingIOError, PermissionError):  # of flock, and of msvcrt
        return False
    return True


@contextmanager
def hold_lock(path: Path, seconds: float | None = None) -> Iterator[None]:
    """Hold the lock of a file, created if missing; wait while another process holds it.

    After a while the log has a notice. Raises OutputError after ``seconds``, by default a minute.
    """
    limit = PATIENCE if seconds is None else seconds
    with _open(path) as descriptor:
        began, is_noticed = time.monotonic(), False
        while not _lock(descriptor):  # polling works on all systems, and can end
            waited = time.monotonic() - began
            if waited >= limit:
                raise OutputError(path, f"{_LOCKED} for {limit:g} s", "end it, or try again")
            if waited >= NOTICE and not is_noticed:
                from logging import getLogger

                notice = OutputError(path, _LOCKED, f"waiting for up to {limit:g} s")
                getLogger("geolookup").warning("%s", notice)
                is_noticed = True
            time.sleep(_POLL)
        yield


@contextmanager
def hold_lock_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock of a file, created if missing, and yield True; yield False if it is held."""
    with _open(path) as descriptor:
        yield _lock(descriptor)


@contextmanager
def _open(path: Path) -> Iterator[int]:
    descriptor = os.open(path, _FLAGS | os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.name == "posix":
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


# --- temporary folders


def temporary_name(output: Path) -> Path:
    """Return an unused hidden name in the folder of ``output``; it begins as that name, cut."""
    return output.parent / f".{output.name[:_BEGIN]}.geolookup-{os.urandom(8).hex()}"


@contextmanager
def temporary_folder(output: Path) -> Iterator[Path]:
    """Yield a new folder beside ``output``, held while the block runs; then remove it.

    What killed processes left beside ``output`` is removed first, once per process and folder: some
    commands write many files into one.
    """
    sweep_once(output.parent)
    descriptor = None
    while descriptor is None:  # again if another process removed it before it was locked
        folder = temporary_name(output)
        folder.mkdir(0o700)
        descriptor = _hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if descriptor >= 0:
            os.close(descriptor)


def _hold(folder: Path) -> int | None:
    """Return a descriptor that holds the lock of a folder, -1 without locks, None if it is gone."""
    if os.name != "posix":
        return -1
    try:
        descriptor = os.open(folder, _FLAGS)
    except FileNotFoundError:
        return None
    is_held = True
    with suppress(OSError):  # a file system without locks
        is_held = _lock(descriptor)
    if is_held and folder.exists():
        return descriptor
    os.close(descriptor)
    return None


def sweep(folder: Path) -> None:
    """Remove the temporary folders in a folder that no process holds."""
    if os.name != "posix":
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(entry.path) for entry in entries if _NAME.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_free(path)


sweep_once = cache(sweep)


def _remove_if_free(path: Path) -> None:
    descriptor = os.open(path, _FLAGS | getattr(os, "O_DIRECTORY", 0))
    try:
        if _lock(descriptor):
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)
