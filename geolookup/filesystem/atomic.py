"""Atomic writes: a file or folder is written in a temporary folder, synced and renamed.

No file is changed in place. Readers keep the files that they have mapped, and a failure at
any step leaves the old file or folder. Without ``force`` nothing is replaced, also nothing that
another process has written since ``check_file`` or ``check_folder``.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geolookup.errors import OutputError
from geolookup.filesystem import NUL_IN_NAME
from geolookup.filesystem.locks import temporary_folder, temporary_name

#: Constants of Linux, from fcntl.h and linux/fs.h: paths as of the current folder; exchange.
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_ANOTHER = "choose another name"


def check_folder(
    output: Path, *, force: bool, replaceable: Callable[[Path], bool], kind: str = "dataset"
) -> None:
    """Raise OutputError unless a folder may be written at ``output``.

    With ``force`` an empty folder, or one that is ``replaceable``, may be replaced; ``kind``
    names such a folder.
    """
    with output_errors(output):
        if not _check_name(output, force=force):
            return
        problem = ""
        if not output.is_dir() or output.is_symlink():
            problem = f"is not a {kind} folder"
        elif any(output.iterdir()) and not replaceable(output):
            problem = f"is not empty and not a {kind}"
        if problem:
            raise OutputError(output, problem, _ANOTHER)


def check_file(output: Path, *, force: bool) -> None:
    """Raise OutputError unless a file may be written at ``output``."""
    with output_errors(output):
        problem = ""
        if output.is_dir():
            problem = "is a folder"
        elif output.exists() and not output.is_file():  # replacing a device would remove it
            problem = "is not a regular file"
        if problem:
            raise OutputError(output, problem, "name a file to write")
        _check_name(output, force=force)


def _check_name(output: Path, *, force: bool) -> bool:
    """Return whether a name is in use; OutputError if it may not be, or has no folder."""
    if not output.parent.is_dir():
        raise OutputError(output.parent, "no such folder", "create it first")
    is_used = os.path.lexists(output)
    if is_used and not force:
        raise OutputError(output, "exists already", f"{_ANOTHER} or use --force")
    return is_used


@contextmanager
def staged_folder(output: Path, mode: int = 0o777, *, force: bool = True) -> Iterator[Path]:
    """Yield a new folder; rename it to ``output`` if the block succeeds.

    With ``force`` an existing folder is replaced. The mode is ``mode`` without the bits of the
    umask. The system applies it: a process can read its umask only by changing it, for all threads.
    """
    with output_errors(output), temporary_folder(output) as place:
        fresh = place / "new"
        fresh.mkdir(mode)
        yield fresh
        fsync(fresh)
        # Content, then name, then the folder's entry: after a power failure the name leads to
        # a whole folder, the old one or the new one.
        (_rename_into if force else _place_new)(fresh, output)
        fsync(output.parent)


@contextmanager
def staged_file(output: Path, mode: int = 0o666, *, force: bool = True) -> Iterator[Path]:
    """Yield the path of a new file; rename it to ``output`` if the block succeeds.

    With ``force`` an existing file is replaced. ``mode`` is as in ``staged_folder``.
    """
    with output_errors(output), temporary_folder(output) as place:
        fresh = place / output.name
        fresh.touch(mode)
        yield fresh
        fsync(fresh)
        (Path.replace if force else _place_new)(fresh, output)
        fsync(output.parent)


@contextmanager
def output_errors(output: Path, remedy: str = "check space and permissions") -> Iterator[None]:
    """Turn an OSError into an OutputError that names ``output``; refuse a name with NUL."""
    if "\0" in str(output):
        raise OutputError(output, NUL_IN_NAME, _ANOTHER)
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise OutputError(output, problem, remedy) from error


def fsync(path: Path) -> None:
    """Sync a closed file, or the entries of a folder (created, renamed, removed), to the disk.

    Windows syncs no folders, and files only if they are opened for writing.
    """
    if os.name == "posix" or path.is_file():
        descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Rename a folder, then remove it: a reader finds it whole or not at all.

    The rename needs no space on a full disk. If the process dies after it, a later ``sweep``
    removes the files.
    """
    aside = temporary_name(path)
    path.rename(aside)
    fsync(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _place_new(fresh: Path, output: Path) -> None:
    """Give a file or folder its name; OutputError if another process took the name."""
    try:
        if fresh.is_dir():
            fresh.rename(output)
        else:
            output.hardlink_to(fresh)  # a rename would replace
    except OSError:
        if os.path.lexists(output):
            problem = "another process has written it meanwhile"
            remedy = f"{_ANOTHER}, or use --force to replace it"
            raise OutputError(output, problem, remedy) from None
        if fresh.is_dir():
            raise
        fresh.replace(output)  # a file system without hard links


def _rename_into(fresh: Path, output: Path) -> None:
    """Rename a folder to ``output``, existing or not.

    A rename replaces no folder that has files. An exchange gives each folder the name of the other
    in one step: readers open the old or the new one. Without it the old folder is renamed aside
    first: ``output`` is missing for a moment, and gets its old folder back on an error.
    """
    if not output.exists():
        fresh.rename(output)
    elif not exchange(fresh, output):
        aside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
        old = output.rename(aside / "old")
        try:
            fresh.rename(output)
        except OSError:
            old.rename(output)
            raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Swap the names of two folders in one step; return False if the system cannot.

    Linux 3.15 and later: renameat2(2) with RENAME_EXCHANGE. Some file systems, such as NFS, refuse.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None).renameat2
        names = (os.fsencode(one), os.fsencode(other))
        # After the exchange ``one`` is the old folder. The caller removes it.
        return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
    return False
