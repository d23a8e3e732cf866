"""A dataset takes its place whole or not at all: written beside it, made durable, renamed.

Strategy: nothing is ever changed in place, so what others have mapped stays as it is, and
whatever goes wrong leaves what was there before.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.errors import DatasetError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_place(output: Path, *, force: bool) -> None:
    """Raise DatasetError where ``output`` may not be written."""
    with explained(output):
        _check_place(output, force=force)


def _check_place(output: Path, *, force: bool) -> None:
    if not output.parent.is_dir():
        raise DatasetError(output.parent, "no such folder", "make it first")
    if not (output.exists() or output.is_symlink()):
        return
    if not force:
        raise DatasetError(output, "exists already", "choose another name or give --force")
    if not output.is_dir() or output.is_symlink():
        raise DatasetError(output, "is not a dataset folder", "choose another name")
    if any(output.iterdir()) and not _is_dataset(output):
        raise DatasetError(output, "holds something else than a dataset", "choose another name")


def check_file_place(output: Path, *, force: bool) -> None:
    """Raise DatasetError where ``output`` may not be written as a file."""
    with explained(output):
        if not output.parent.is_dir():
            raise DatasetError(output.parent, "no such folder", "make it first")
        if output.is_dir():
            raise DatasetError(output, "is a folder", "name a file to write")
        if output.exists() and not force:
            remedy = "choose another name or give --force"
            raise DatasetError(output, "exists already", remedy)


def _is_dataset(folder: Path) -> bool:
    """Say whether a folder holds a dataset of any version; a manifest.json alone proves nothing."""
    try:
        manifest = json.loads((folder / fmt.MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("format") == fmt.FORMAT


@contextmanager
def placed(output: Path) -> Iterator[Path]:
    """Give a fresh folder beside ``output``, which takes its place if the block succeeds."""
    with explained(output):
        fresh = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        with explained(output):
            yield fresh
            fresh.chmod(0o777 & ~_umask())
            sync(fresh)
            _rename_into(fresh, output)
            sync(output.parent)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def placed_file(output: Path) -> Iterator[Path]:
    """Give the path of a file beside ``output``, which takes its place if the block succeeds."""
    with explained(output):
        descriptor, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
        os.close(descriptor)
    fresh = Path(name)
    try:
        with explained(output):
            yield fresh
            durable(fresh)
            fresh.chmod(0o666 & ~_umask())
            fresh.replace(output)
            sync(output.parent)
    finally:
        fresh.unlink(missing_ok=True)


@contextmanager
def explained(output: Path) -> Iterator[None]:
    """Turn a system error of writing into one clear line."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise DatasetError(output, problem, "check space and permissions") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def durable(path: Path) -> None:
    """Make a file that was written and closed last as long as the disk."""
    # Windows wants a file that may be written to; elsewhere it may be somebody else's.
    with path.open("rb" if os.name == "posix" else "rb+") as file:
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Make what was made, renamed and removed in a folder last as long as the disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _rename_into(fresh: Path, output: Path) -> None:
    if not output.exists():
        fresh.rename(output)
    elif not _exchange(fresh, output):
        aside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
        old = output.rename(aside / "old")
        try:
            fresh.rename(output)
        except OSError:
            old.rename(output)
            raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step (Linux renameat2); False where the system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    with contextlib.suppress(OSError, AttributeError):
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        names = (os.fsencode(one), os.fsencode(other))
        return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)
    return False
