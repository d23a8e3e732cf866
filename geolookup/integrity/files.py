"""The manifest, its signature and the files: form, sizes, digests and the layout of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import columns_of, content, mapped
from geolookup.dataset.digests import wrong_files
from geolookup.dataset.manifest import (
    BASE,
    MEMBERS,
    BufferDescription,
    FileDescription,
    Manifest,
    read_manifest,
)
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damaged
from geolookup.signing.keys import PublicKey
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement
from geolookup.signing.trust import Trust

#: Bytes of a file whose pages are worth returning.
_LARGE = 1 << 14


def manifest_of(folder: Path) -> Manifest:
    """Return the manifest of a dataset if it is complete; DatasetError for any other."""
    path = folder / fmt.MANIFEST
    if not _is_plain(path):
        raise damaged(path, "not a plain file")
    manifest = read_manifest(folder)
    if wrongs := (manifest.members - {BASE}) ^ MEMBERS:
        wrong = min(wrongs)
        raise damaged(path, f"{wrong!r} is missing" if wrong in MEMBERS else f"unknown {wrong!r}")
    manifest.metadata()
    _check_names(path, manifest)
    return manifest


def _is_plain(path: Path) -> bool:
    """Return False for a pipe or device, where a read could block; True if it is missing."""
    try:
        return path.is_file() or not path.exists()
    except OSError:  # no permission to ask: reading it will report the error
        return True


def _check_names(path: Path, manifest: Manifest) -> None:
    expected = {*fmt.FILES, *(fmt.EXPLAINING if manifest.explains_rows else ())}
    for name in sorted(expected ^ manifest.file_names):
        missing = name in expected
        raise damaged(path, f"{name} is not described" if missing else f"unknown file {name!r}")


def signature(folder: Path, trusted: Sequence[PublicKey]) -> Iterator[DatasetError]:
    """Yield what is wrong with ``signature.json``, if there is one: of another manifest, no form.

    With trusted keys one of them must have signed it.
    """
    path = folder / SIGNATURE
    try:
        text, manifest = read_signature(folder), (folder / fmt.MANIFEST).read_bytes()
        if trusted:
            Trust(tuple(trusted)).check(manifest, text, path)
        elif text is not None:
            read_statement(text, manifest, None, path)
    except DatasetError as error:
        yield error


def digests(folder: Path, manifest: Manifest) -> Iterator[DatasetError]:
    """Yield the files that are missing, or whose size or digest differs from the manifest."""
    for path, problem in wrong_files(folder, manifest):
        yield damaged(path, problem)


def form(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error if the manifest's bytes are not its canonical serialisation."""
    path = tables.folder / fmt.MANIFEST
    if path.read_bytes() != _canonical(tables.manifest):
        yield damaged(path, "not the canonical form of a manifest")


def _canonical(manifest: Manifest) -> bytes | None:
    try:
        return manifest.canonical()
    except (ValueError, RecursionError):  # lone surrogates; lists in lists in lists
        return None


def load(tables: Tables) -> Iterator[DatasetError]:
    """Read every file; yield those that Arrow cannot read, or whose layout differs."""
    for name, described in tables.manifest.files.items():
        path = tables.folder / name
        try:
            file = mapped(path)
            batch, whole = content(file)
            batch.validate(full=True)  # ascending offsets, indices in range, UTF-8
            columns = columns_of(batch, whole)
        # KeyError: two columns share a name
        except (pa.ArrowException, ValueError, KeyError, OSError, MemoryError) as error:
            lines = str(error).splitlines() or ["not an Arrow file"]
            yield damaged(path, f"Arrow cannot read it ({lines[0]})")
            continue
        tables.batches[name] = batch
        if len(file) >= _LARGE:
            tables.mapped.append(file)
        problem, column = _layout_problem(described, batch.num_rows, columns)
        if problem:
            yield damaged(path, problem, column)


def _layout_problem(
    stated: FileDescription, rows: int, columns: Mapping[str, BufferDescription]
) -> tuple[str, str]:
    """Return the first difference between manifest and file, and its column."""
    described = stated.columns
    if described is None or not stated.is_complete:
        return "its description in the manifest is malformed", ""
    if stated.rows != rows:
        return f"{rows:,} rows, but the manifest says {stated.rows!r}", ""
    for name in sorted({*described, *columns}):
        if described.get(name) != columns.get(name):
            return "its type or position differs from the manifest", name
    return "", ""
