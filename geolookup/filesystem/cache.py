"""The cache folder of the user, and the entries in it: each made once, the last used are kept.

::

    CACHE/datasets/NAME/       an entry: whatever was unpacked or compiled to be opened
    CACHE/datasets/.lock-XX    held by the process that makes an entry

XX are two hexadecimal digits of a digest of NAME, so there are at most 256 lock files: one that is
removed with its entry could be held and created again at the same time.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from geolookup.errors import DatasetError, OutputError, SettingsError
from geolookup.filesystem import atomic
from geolookup.filesystem.limits import read_bytes
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free, sweep
from geolookup.filesystem.ownership import FOLDER_MODE, check_strictly

T = TypeVar("T")

#: The environment variable of the bytes that all entries may have together, and their default.
SIZE_VARIABLE, _SIZE = "GEOLOOKUP_CACHE_SIZE", "4GB"
_ANOTHER = "name another cache by $GEOLOOKUP_CACHE"
#: Seconds to wait for an entry that another process makes: it may compile for minutes.
_PATIENCE = 600.0


def default_folder() -> Path:
    """Return GEOLOOKUP_CACHE, else the user's cache folder of the system.

    Raises OutputError if that is in an unknown home folder.
    """
    if folder := os.environ.get("GEOLOOKUP_CACHE"):
        return Path(folder)
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "geolookup" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "geolookup"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "geolookup"
    except RuntimeError as error:  # neither HOME nor an entry of the user
        problem = "the home folder is not known"
        raise OutputError("~", problem, "name a cache with --cache or $GEOLOOKUP_CACHE") from error


def entries_folder() -> Path:
    """Return the absolute folder of the entries; OutputError if the home folder is unknown."""
    return default_folder().absolute() / "datasets"


def open_cached(name: str, find: Callable[[Path], T | None], make: Callable[[Path], object]) -> T:
    """Open the entry of a name, made if it is missing.

    ``find`` opens what is in the folder of the entry; None if that is missing or damaged. ``make``
    writes the folder, atomically (``atomic.staged_folder``), by one process at a time. Afterwards
    the least recently used entries are evicted: what ``find`` returns must stay open without its
    files. Raises OutputError if the cache cannot be written, SettingsError for a malformed
    ``$GEOLOOKUP_CACHE_SIZE``, and the errors of ``find`` and ``make``.
    """
    folder = entries_folder() / name
    value = find(folder)
    if value is None:
        most = _most_bytes()
        with atomic.output_errors(folder, f"check space and permissions, or {_ANOTHER}"):
            make_folder(folder.parent)
            with hold_lock(_lock_of(folder), _PATIENCE):
                value = find(folder)  # another process may have made it meanwhile
                if value is None:
                    make(folder)
                    value = find(folder)
                evict(folder, most)
    if value is None:
        raise OutputError(folder, "cannot be opened after it was written", "remove it, try again")
    with suppress(OSError):  # a cache of another user
        os.utime(folder)  # the last used one
    return value


def make_folder(folder: Path) -> None:
    """Create a folder of the cache and its parents: for others to read, whatever the umask."""
    for path in reversed([folder, *folder.parents]):
        path.mkdir(FOLDER_MODE, exist_ok=True)


def _lock_of(folder: Path) -> Path:
    digest = hashlib.sha256(os.fsencode(folder.name)).hexdigest()
    return folder.parent / f".lock-{digest[:2]}"


def is_safe(folder: Path) -> bool:
    """Return whether only this user and root can change a folder inside of an entry.

    Raises OutputError if others can change the cache itself, and could move entries.
    """
    entries = entries_folder()
    try:
        check_strictly([entries])
    except DatasetError as error:
        problem = f"{error.problem}: no dataset of this cache can be trusted"
        remedy = f"{error.remedy} and remove {entries}, or {_ANOTHER}"
        raise OutputError(error.path, problem, remedy) from None
    try:
        check_strictly([folder, *folder.rglob("*")])
    except (DatasetError, OSError):  # OSError: evicted meanwhile
        return False
    return True


def evict(used: Path, most: int) -> None:
    """Remove the least recently used entries: the last used that have ``most`` bytes stay.

    So do ``used``, and those whose lock is held. A process that has an entry open continues to
    answer from it.
    """
    sweep(used.parent)
    entries = {path for path in used.parent.iterdir() if path.is_dir() and path.name[0] != "."}
    # ``used`` is the last used one, whatever its time.
    for folder in [used, *sorted(entries - {used}, key=_used_at, reverse=True)]:
        # OSError: another process evicts it, or Windows refuses to rename a folder that is open.
        with suppress(OSError):
            most -= sum(path.lstat().st_size for path in folder.rglob("*"))
            if most < 0 and folder != used:
                with hold_lock_if_free(_lock_of(folder)) as is_free:
                    if is_free:
                        atomic.remove_folder(folder)


def _used_at(folder: Path) -> int:
    with suppress(OSError):  # evicted meanwhile
        return folder.lstat().st_mtime_ns
    return 0


def _most_bytes() -> int:
    try:
        return read_bytes(os.environ.get(SIZE_VARIABLE) or _SIZE)
    except ValueError as error:
        raise SettingsError(f"{SIZE_VARIABLE}: {error}") from None
