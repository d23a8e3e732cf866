"""The manifest, its signature and the files: form, sizes, digests and the layout of columns.

Also the parts of the manifest that follow from the columns: counts, fields, coverage, generation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from geolookup.dataset import arrow_files
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import columns_of, content, map_file
from geolookup.dataset.checksums import wrong_files
from geolookup.dataset.intervals import count_addresses
from geolookup.dataset.manifest import (
    COLUMNS,
    MEMBERS,
    BufferDescription,
    FileDescription,
    Manifest,
    read_manifest,
)
from geolookup.errors import DatasetError
from geolookup.integrity.tables import Tables, damage
from geolookup.signing.keys import PublicKey
from geolookup.signing.statement import SIGNATURE, read_signature, read_statement
from geolookup.signing.trust import Trust

#: Bytes of a file whose pages are worth returning.
_LARGE = 1 << 14
Coverage = dict[str, dict[str, int]]


def manifest_of(folder: Path) -> Manifest:
    """Return the manifest of a dataset if it is complete; DatasetError for any other."""
    path = folder / fmt.MANIFEST
    if not _is_plain(path):
        raise damage(path, "not a plain file")
    manifest = read_manifest(folder)
    if wrongs := (manifest.members - {COLUMNS}) ^ MEMBERS:
        wrong = min(wrongs)
        raise damage(path, f"{wrong!r} is missing" if wrong in MEMBERS else f"unknown {wrong!r}")
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
    expected = set(manifest.expected_files)
    for name in sorted(expected ^ manifest.file_names):
        missing = name in expected
        raise damage(path, f"{name} is not described" if missing else f"unknown file {name!r}")


def signature(folder: Path, trusted: Sequence[PublicKey]) -> Iterator[DatasetError]:
    """Yield the damage of ``signature.json``, if any: malformed, or of another manifest.

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
        yield damage(path, problem)


def form(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error if the manifest's bytes are not its canonical serialisation."""
    path = tables.folder / fmt.MANIFEST
    if path.read_bytes() != _canonical(tables.manifest):
        yield damage(path, "not the canonical form of a manifest")


def _canonical(manifest: Manifest) -> bytes | None:
    try:
        return manifest.canonical()
    except (ValueError, RecursionError):  # lone surrogates; lists in lists in lists
        return None


def load(tables: Tables) -> Iterator[DatasetError]:
    """Read every file; yield those that Arrow cannot read, or whose layout differs."""
    for name, description in tables.manifest.files.items():
        path = tables.folder / name
        try:
            file = map_file(path)
            batch, whole = content(file)
            batch.validate(full=True)  # ascending offsets, indices in range, UTF-8
            columns = columns_of(batch, whole)
        # KeyError: two columns share a name
        except (pa.ArrowException, ValueError, KeyError, OSError, MemoryError) as error:
            lines = str(error).splitlines() or ["not an Arrow file"]
            yield damage(path, f"Arrow cannot read it ({lines[0]})")
            continue
        tables.batches[name] = batch
        if len(file) >= _LARGE:
            tables.mapped.append(file)
            tables.release()
        problem, column = _layout_problem(description, batch.num_rows, columns)
        if problem:
            yield damage(path, problem, column)


def _layout_problem(
    description: FileDescription, rows: int, columns: Mapping[str, BufferDescription]
) -> tuple[str, str]:
    """Return the first difference between manifest and file, and its column."""
    manifest_columns = description.columns
    if manifest_columns is None or not description.is_complete:
        return "its description in the manifest is malformed", ""
    if description.rows != rows:
        return f"{rows:,} rows, but the manifest says {description.rows!r}", ""
    for name in sorted({*manifest_columns, *columns}):
        if manifest_columns.get(name) != columns.get(name):
            return "its type or position differs from the manifest", name
    return "", ""


def summaries(tables: Tables) -> Iterator[DatasetError]:
    """Yield the members of the manifest that the columns contradict."""
    metadata, path = tables.manifest.metadata(), tables.folder / fmt.MANIFEST
    if metadata.counts != arrow_files.counts(tables.batches):
        yield damage(path, "'counts' differs from the columns")
    if list(metadata.fields) != arrow_files.known_fields(tables.batches, tables.manifest.schema):
        yield damage(path, "'fields' differs from the columns")
    decided = _decided_addresses(tables, len(metadata.sources))
    for number, source in enumerate(metadata.sources, 1):
        if source.coverage != decided[number]:
            yield damage(path, f"'coverage' of source {number} differs from the provenance")
    if metadata.coverage != _total(decided, tables.manifest.schema.layers):
        yield damage(path, "'coverage' differs from the provenance")


def generation(tables: Tables) -> Iterator[DatasetError]:
    """Yield an error if the generation id is not the digest of the columns and the manifest."""
    computed = arrow_files.generation(tables.manifest, tables.batches, tables.release)
    expected = tables.manifest.generation
    if computed != expected:
        problem = f"'generation' is {expected}, but the content gives {computed}"
        yield damage(tables.folder / fmt.MANIFEST, problem)


def _decided_addresses(tables: Tables, sources: int) -> list[Coverage]:
    """Return the addresses that each source decides, by layer and family; index 0 is empty."""
    decided: list[Coverage] = [{} for _ in range(sources + 1)]
    for family, name in fmt.PROVENANCE.items():
        names = tables.batches[name].schema.names
        starts = tables.starts(name)
        for layer in (layer for layer in tables.manifest.schema.layers if layer in names):
            numbers = tables.numbers(name, layer)
            for number in np.unique(numbers[numbers > 0]).tolist():
                of_layer = decided[number].setdefault(layer, {"ipv4": 0, "ipv6": 0})
                of_layer[f"ipv{family}"] = count_addresses(starts, numbers == number)
    return decided


def _total(decided: list[Coverage], layers: Sequence[str]) -> dict[str, Any]:
    return {
        layer: {
            family: sum(source[layer][family] for source in decided if layer in source)
            for family in ("ipv4", "ipv6")
        }
        for layer in layers
    }
