"""Who may write a file: the modes of new files, and the check of files that decide about trust.

The check follows ``StrictModes`` of OpenSSH (``safe_path`` in its ``misc.c``): a file, its
folder and all parents belong to this user or to root, and neither group nor others may write them.
Whoever writes a parent can move the file aside, and put another one there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from geolookup.errors import DatasetError
from geolookup.filesystem import ReadErrors

#: The modes of files and folders of a store. A umask may remove bits; others can never write.
FILE_MODE, FOLDER_MODE = 0o644, 0o755
#: Links of one path; Linux follows as many, and the path of a loop is an error when it is read.
_MOST_LINKS = 40


def create(path: str | os.PathLike[str]) -> BinaryIO:
    """Create a file that only its owner may write, whatever the umask allows."""
    return open(path, "xb", opener=partial(os.open, mode=FILE_MODE))


def check_strictly(paths: Iterable[Path]) -> None:
    """Raise DatasetError unless only this user and root can change these paths.

    The paths are checked, each link on the way to them, the targets of links, and all parents. A
    parent with the sticky bit, such as ``/tmp``, may be writable: in it, only the owner of an entry
    can rename the entry.
    """
    absolute = [path.absolute() for path in paths]
    named = _with_targets(absolute)
    parents = dict.fromkeys(step for path in absolute for step in _steps(path))
    for path in parents | named:
        _check(path, allowed=0 if path in named else stat.S_ISVTX)


def check_dataset(folder: Path) -> None:
    """Raise DatasetError unless only its owner, this user and root can change a dataset.

    The owner of the folder counts: a service may answer from the store of another user. Of a link,
    its target is checked too.
    """
    with ReadErrors(folder):
        owner, paths = folder.stat().st_uid, [folder, *folder.iterdir()]
    for path in _with_targets(paths):
        _check(path, owner)


def _with_targets(paths: list[Path]) -> dict[Path, None]:
    # ``Path.resolve`` raises RuntimeError for a loop of links.
    return dict.fromkeys([*paths, *(Path(os.path.realpath(path)) for path in paths)])


def _steps(path: Path) -> Iterator[Path]:
    """Yield each folder and link through which the system goes to an absolute path.

    Example: ``/a/b/c``, where ``b`` links to ``../d``, passes /, /a, /a/b, /d and /d/c.
    """
    current, links = Path(path.anchor), 0
    parts = [*reversed(path.parts)]
    while parts and links <= _MOST_LINKS:
        part = parts.pop()
        current = current.parent if part == os.pardir else current / part
        yield current
        if os.path.islink(current):  # noqa: PTH114 - no error in a folder that may not be entered
            links += 1
            parts += reversed(current.readlink().parts)  # of an absolute target, the first is /
            current = current.parent


def _check(path: Path, owner: int = 0, *, allowed: int = 0) -> None:
    """Raise DatasetError if others than this user, ``owner`` and root can change a path.

    A mode with one of the ``allowed`` bits, and the mode of a link, are not checked.
    Windows has access control lists instead of owners and modes.
    """
    with ReadErrors(path):
        try:
            status = path.lstat()
        except FileNotFoundError:  # removed meanwhile
            return
    if os.name != "posix":
        return
    if status.st_uid not in (0, owner, os.geteuid()):
        name = user_name(status.st_uid)
        remedy = f"run this as {name}, or run chown {user_name(os.geteuid())} {path}"
        raise DatasetError(path, f"belongs to {name}, who can change it", remedy)
    if stat.S_ISLNK(status.st_mode) or status.st_mode & allowed:
        return
    if status.st_mode & stat.S_IWOTH:
        raise DatasetError(path, "every user may write it", f"run chmod go-w {path}")
    if status.st_mode & stat.S_IWGRP:
        raise DatasetError(path, "its group may write it", f"run chmod g-w {path}")


def user_name(user: int) -> str:
    """Return the name of a user, or the number if it has none, as in many containers."""
    import pwd  # absent on Windows

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
