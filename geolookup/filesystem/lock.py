"""File locks between processes: the system releases a lock when its process ends.

POSIX: ``flock``; Windows: ``msvcrt.locking`` of the first byte.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, created if missing; wait while another process holds it."""
    with _open(path) as descriptor:
        lock_waiting(descriptor)
        yield


@contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock of a file, created if missing, and yield True; yield False if it is held."""
    with _open(path) as descriptor:
        try:
            lock_now(descriptor)
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
