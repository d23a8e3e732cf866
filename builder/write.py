"""A dataset onto disk: written beside its place, made durable, renamed into it."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from builder.errors import BuildError
from builder.manifest import describe
from geolookup import format as fmt

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_place(output: Path, *, force: bool) -> None:
    """Raise BuildError where ``output`` may not be written."""
    with explained(output):
        _check_place(output, force=force)


def _check_place(output: Path, *, force: bool) -> None:
    if not output.parent.is_dir():
        raise BuildError(output.parent, "no such folder", remedy="make it first")
    if not (output.exists() or output.is_symlink()):
        return
    if not force:
        raise BuildError(output, "exists already", remedy="choose another name or give --force")
    if not output.is_dir() or output.is_symlink():
        raise BuildError(output, "is not a dataset folder", remedy="choose another name")
    if any(output.iterdir()) and not _is_dataset(output):
        raise BuildError(
            output, "holds something else than a dataset", remedy="choose another name"
        )


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
            _sync(fresh)
            _rename_into(fresh, output)
            _sync(output.parent)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextmanager
def explained(output: Path) -> Iterator[None]:
    """Turn a system error of writing into one clear line."""
    try:
        yield
    except OSError as error:
        problem = f"cannot be written ({error.strerror or error})"
        raise BuildError(output, problem, remedy="check space and permissions") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Write every table as an uncompressed Arrow IPC file; return the manifest's ``files``."""
    return {name: _write_table(folder / name, table) for name, table in tables.items()}


def _write_table(path: Path, table: pa.Table) -> dict[str, Any]:
    batch = table.combine_chunks().to_batches()[0]
    with path.open("wb") as stream:
        with pa.ipc.new_file(stream, batch.schema) as writer:
            writer.write_batch(batch)
        _flush(stream.fileno())
    return describe(path)


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the canonical manifest; without it a folder is no dataset, so it comes last."""
    with (folder / fmt.MANIFEST).open("wb") as stream:
        stream.write(fmt.canonical(manifest))
        stream.flush()
        _flush(stream.fileno())


def _flush(descriptor: int) -> None:
    os.fsync(descriptor)


def _sync(folder: Path) -> None:
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
