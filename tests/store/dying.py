"""Work in a forked child that dies, or whose system calls fail, at a chosen step."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any, Literal

import geolookup

Kind = Literal["kill", "fault"]
#: How the work ended.
DONE, REFUSED, FAILED, KILLED = "done", "refused", "failed", "killed"
_STATUS = {0: DONE, 3: REFUSED, -signal.SIGKILL: KILLED}
_EVENTS = {
    *("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"),
    *("os.symlink", "tempfile.mkdtemp", "tempfile.mkstemp"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
#: Called before each step of this process; an audit hook stays for good, hence a list.
_counting: list[Callable[[], None]] = []
_hooked: list[bool] = []


def ending(work: Callable[[], object], kind: Kind, step: int) -> str:
    """Do the work in a child that is killed, or is refused by the system, before its step."""
    child = os.fork()
    if child == 0:
        _dying(work, kind, step)
    return _STATUS.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), FAILED)


def _dying(work: Callable[[], object], kind: Kind, step: int) -> None:
    status = 1
    try:
        arm(kind, step)
        work()
        status = 0
    except geolookup.errors.OutputError:
        status = 3
    except BaseException:  # noqa: BLE001 - the child must end here, whatever happens
        traceback.print_exc()
    finally:
        os._exit(status)


def arm(kind: Kind, step: int) -> Callable[[], int]:
    """End this process, or fail its system calls, before a step; return how to ask what is left."""
    left = step

    def count() -> None:
        nonlocal left
        left -= 1
        if left == -1:
            if kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    _begin(count)
    return lambda: left


def steps_of(work: Callable[[], object]) -> int:
    """Do the work, and return the number of its steps."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    sync = _begin(count)
    try:
        work()
    finally:
        os.fsync = sync  # type: ignore[assignment]
        _counting.remove(count)
    return steps


def _begin(count: Callable[[], None]) -> Callable[[int], None]:
    """Call ``count`` before each step of this process: each change of a file or folder."""
    sync = os.fsync

    def fsync(descriptor: int) -> None:
        count()
        sync(descriptor)

    if not _hooked:
        _hooked.append(True)
        sys.addaudithook(_watch)
    _counting.append(count)
    os.fsync = fsync  # type: ignore[assignment]
    return sync


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _counting and (event in _EVENTS or (event == "open" and arguments[2] & _WRITING)):
        _counting[-1]()
