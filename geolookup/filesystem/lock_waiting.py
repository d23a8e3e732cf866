"""Locks an open file: at once, or waiting up to a limit, with a notice in the log.

A lock is ``flock``, on Windows ``msvcrt.locking`` of the first byte. Waiting polls: that works on
all systems, and can end.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from geolookup.errors import OutputError, SettingsError

#: The environment variable of the seconds to wait for a lock, and their default.
TIMEOUT_VARIABLE, TIMEOUT = "GEOLOOKUP_LOCK_TIMEOUT", 60.0
#: Seconds until the log names the process that holds a lock, and between two attempts.
NOTICE, _POLL = 2.0, 0.05
_REMEDY = f"end that process, or wait longer by --lock-timeout or ${TIMEOUT_VARIABLE}"

if sys.platform == "win32":
    import msvcrt

    def _lock_now(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock_now(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock(descriptor: int) -> bool:
    """Lock an open file or folder; return False while another process holds the lock."""
    try:
        _lock_now(descriptor)
    except (BlockingIOError, PermissionError):  # of flock, and of msvcrt
        return False
    return True


def lock_waiting(descriptor: int, path: Path, default: float) -> None:
    """Lock an open file or folder; OutputError after the limit. Polling works on all systems."""
    began, limit, is_noticed = time.monotonic(), _limit(default), False
    while not lock(descriptor):
        waited = time.monotonic() - began
        if waited >= limit:
            problem = f"locked by {_holder(descriptor)} for {limit:g} s"
            raise OutputError(path, problem, _REMEDY)
        if waited >= NOTICE and not is_noticed:
            problem = f"locked by {_holder(descriptor)}"
            _warn(OutputError(path, problem, f"waiting for up to {limit:g} s"))
            is_noticed = True
        time.sleep(_POLL)


def _limit(default: float) -> float:
    """Return the seconds to wait; SettingsError for a malformed variable."""
    text = os.environ.get(TIMEOUT_VARIABLE)
    if not text:
        return default
    with suppress(ValueError):
        if (seconds := float(text)) >= 0:  # false for NaN
            return seconds
    raise SettingsError(f"{TIMEOUT_VARIABLE}: {text!r} is not a number of seconds such as 60")


def _warn(notice: OutputError) -> None:
    from logging import getLogger

    getLogger("geolookup").warning("%s", notice)


def _holder(descriptor: int) -> str:
    """Return the process that holds the lock of a file, as far as the system tells.

    A line of /proc/locks: ``1: FLOCK  ADVISORY  WRITE 4242 08:01:393229 0 EOF``. 393229 is the
    inode, 4242 the process; it is 0 for a process of another container.
    """
    inode = os.fstat(descriptor).st_ino
    with suppress(OSError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            is_held = words[1] == "FLOCK"  # "->" if a process waits for it
            if is_held and words[5].endswith(f":{inode}") and int(words[4]) > 0:
                return f"process {words[4]}{_command(words[4])}"
    return "another process"


def _command(process: str) -> str:
    with suppress(OSError):
        return f" ({Path('/proc', process, 'comm').read_text('utf-8', 'replace').strip()})"
    return ""
