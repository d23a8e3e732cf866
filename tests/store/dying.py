"""Work in a forked child that dies, or whose system calls fail, at a chosen step."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import geolookup

Kind = Literal["kill", "fault"]
#: How the child ended.
DONE, REFUSED, FAILED, KILLED = "done", "refused", "failed", "killed"
_STATUS = {0: DONE, 3: REFUSED, -signal.SIGKILL: KILLED}
_EVENTS = {
    *("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate"),
    *("os.symlink", "tempfile.mkdtemp", "tempfile.mkstemp"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def ending(work: Callable[[], object], kind: Kind, step: int) -> str:
    """Do the work in a child that is killed, or is refused by the system, before its step."""
    child = os.fork()
    if child == 0:
        _dying(work, kind, step)
    return _STATUS.get(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), FAILED)


def endings(
    work: Callable[[], object],
    kind: Kind,
    folder: Path,
    target_folder: Path,
    *,
    stride: int = 1,
    calm: int = 2,
) -> Iterator[str]:
    """Yield how the work ended before each step; it works on a fresh copy of a folder at ``place``.

    The last ``calm`` times it is done: so many steps in a row may fail without harm.
    """
    done = 0
    for step in range(0, 600, stride):
        shutil.rmtree(target_folder, ignore_errors=True)
        if folder.exists():
            shutil.copytree(folder, target_folder)
        yield (ended := ending(work, kind, step))
        done = done + 1 if ended == DONE else 0
        if done == calm:
            return
    raise AssertionError


def _dying(work: Callable[[], object], kind: Kind, step: int) -> None:
    status = 1
    try:
        arm(kind, step)
        work()
        status = 0
    except geolookup.OutputError:
        status = 3
    except BaseException:  # noqa: BLE001 - the child must end here, whatever happens
        traceback.print_exc()
    finally:
        os._exit(status)


def arm(kind: Kind, step: int) -> Callable[[], int]:
    """End this process, or fail its system calls, before a step; return how to ask what is left."""
    left, sync = step, os.fsync

    def count() -> None:
        nonlocal left
        left -= 1
        if left == -1:
            if kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS or (event == "open" and arguments[2] & _WRITING):
            count()

    def fsync(descriptor: int) -> None:
        count()
        sync(descriptor)

    sys.addaudithook(watch)
    os.fsync = fsync  # type: ignore[assignment]
    return lambda: left
