"""The manifest and the files: canonical, of the size and digest stated, and laid out as stated."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import columns_of, read
from geolookup.dataset.manifest import (
    MEMBERS,
    BufferDescription,
    FileDescription,
    Manifest,
    read_manifest,
)
from geolookup.errors import DatasetError
from geolookup.integrity.damage import damaged
from geolookup.integrity.tables import Tables


def manifest_of(folder: Path) -> Manifest:
    """Return a manifest that has all its members; DatasetError for any other."""
    path = folder / fmt.MANIFEST
    if not _is_plain(path):
        raise damaged(path, "not a plain file")
    manifest = read_manifest(folder)
    if manifest.members != MEMBERS:
        wrong = min(manifest.members ^ MEMBERS)
        raise damaged(path, f"{wrong!r} is missing" if wrong in MEMBERS else f"unknown {wrong!r}")
    manifest.metadata()
    _check_names(path, manifest)
    return manifest


def _is_plain(path: Path) -> bool:
    """Say whether a file is none that a reader would wait for, as for a pipe; a missing one is."""
    try:
        return path.is_file() or not path.exists()
    except OSError:  # what it is may not be asked, so it cannot be read either
        return True


def _check_names(path: Path, manifest: Manifest) -> None:
    expected = {*fmt.FILES, *(fmt.EXPLAINING if manifest.explains_rows else ())}
    for name in sorted(expected ^ manifest.file_names):
        missing = name in expected
        raise damaged(path, f"{name} is not described" if missing else f"unknown file {name!r}")


def digests(folder: Path, manifest: Manifest) -> Iterator[DatasetError]:
    """Yield the files that are missing, or have another size or digest than the manifest says."""
    for name, described in manifest.files.items():
        try:
            problem = _digest_problem(folder / name, described)
        except OSError as error:
            problem = f"cannot be read ({error.strerror or error})"
        if problem:
            yield damaged(folder / name, problem)


def _digest_problem(path: Path, described: FileDescription) -> str:
    if not path.exists():
        return "missing"
    if not path.is_file():  # nothing that a reader would wait for
        return "not a plain file"
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size != described.bytes:
            return f"{size:,} bytes, but the manifest says {described.bytes:,}"
        if hashlib.file_digest(stream, "sha256").hexdigest() != described.sha256:
            return "its digest is not the manifest's"
    return ""


def form(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error where the manifest's bytes are not its one serialisation."""
    path = tables.folder / fmt.MANIFEST
    if path.read_bytes() != _canonical(tables.manifest):
        yield damaged(path, "not in the form that geolookup writes")


def _canonical(manifest: Manifest) -> bytes | None:
    try:
        return manifest.canonical()
    except (ValueError, RecursionError):  # lone surrogates; lists in lists in lists
        return None


def load(tables: Tables) -> Iterator[DatasetError]:
    """Read the columns of every file; yield those that Arrow cannot read, or reads elsewhere."""
    for name, described in tables.manifest.files.items():
        path = tables.folder / name
        try:
            batch, whole = read(path)
            batch.validate(full=True)  # offsets ascend, indices lead inside, text is UTF-8
            columns = columns_of(batch, whole)
        # KeyError where columns share a name
        except (pa.ArrowException, ValueError, KeyError, OSError, MemoryError) as error:
            lines = str(error).splitlines() or ["not an Arrow file"]
            yield damaged(path, f"Arrow cannot read it ({lines[0]})")
            continue
        tables.batches[name] = batch
        problem, column = _layout_problem(described, batch.num_rows, columns)
        if problem:
            yield damaged(path, problem, column)


def _layout_problem(
    stated: FileDescription, rows: int, columns: Mapping[str, BufferDescription]
) -> tuple[str, str]:
    """Return what the manifest says otherwise, and of which column."""
    described = stated.columns
    if described is None or not stated.is_complete:
        return "not described as the format has it", ""
    if stated.rows != rows:
        return f"{rows:,} rows, but the manifest says {stated.rows!r}", ""
    for name in sorted({*described, *columns}):
        if described.get(name) != columns.get(name):
            return "the manifest says otherwise what it is or where it lies", name
    return "", ""
