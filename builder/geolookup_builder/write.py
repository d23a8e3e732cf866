"""Writes a dataset into a staging directory: tables, the manifest, and a signature of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import describe
from geolookup.dataset.manifest import FileDescription, Manifest
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import atomic
from geolookup.integrity import Verified
from geolookup.parallel import in_order, threads_for
from geolookup.signing.keys import PrivateKey
from geolookup.signing.statement import SIGNATURE, serial_in, stated


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, FileDescription]:
    """Write every table as an uncompressed Arrow IPC file; return the manifest's ``files``."""
    # The longest first, so that the threads end at about the same time.
    by_size = sorted(tables, key=lambda name: -tables[name].num_rows)
    threads = threads_for(tables[by_size[0]].num_rows)
    files = ((folder / name, tables[name]) for name in by_size)
    with in_order(_write_table, files, threads) as described:
        found = dict(zip(by_size, described, strict=True))
    return {name: found[name] for name in tables}


def _write_table(file: tuple[Path, pa.Table]) -> FileDescription:
    path, table = file
    batch = table.combine_chunks().to_batches()[0]
    with path.open("wb") as stream:
        with pa.ipc.new_file(stream, batch.schema) as writer:
            writer.write_batch(batch)
        atomic.sync(stream)
    return describe(path)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the canonical manifest, after the tables: a folder without it is not a dataset."""
    with (folder / fmt.MANIFEST).open("wb") as stream:
        stream.write(manifest.canonical())
        atomic.sync(stream)


def write_signature(folder: Path, output: Path, keys: Sequence[PrivateKey]) -> None:
    """Sign the written dataset, with a greater serial than the one that it replaces."""
    if keys:
        text = (folder / fmt.MANIFEST).read_bytes()
        path = folder / SIGNATURE
        path.write_bytes(stated(text, keys, serial_in(output)))
        atomic.fsync_file(path)


def verified(folder: Path, output: Path) -> Verified:
    """Verify the written dataset before it is renamed into place; OutputError if it is damaged."""
    try:
        return Verified(folder)
    except DatasetError as error:
        problem = f"the written dataset is damaged: {Path(error.path).name}: {error.problem}"
        raise OutputError(output, problem, "build it again on another disk") from error
