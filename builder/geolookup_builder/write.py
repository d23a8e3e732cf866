"""A dataset onto disk: tables and manifest, in a folder that then takes its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from geolookup.dataset import layout as fmt
from geolookup.dataset.files import is_dataset
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.integrity import verify
from geolookup.integrity.described import describe
from geolookup_builder.errors import BuildError


def check_place(output: Path, *, force: bool) -> None:
    """Raise BuildError where ``output`` may not be written."""
    with _as_build_errors():
        atomic.check_folder(output, force=force, replaceable=is_dataset)


@contextmanager
def placed(output: Path) -> Iterator[Path]:
    """Give a fresh folder beside ``output``, which takes its place if the block succeeds."""
    with _as_build_errors(), atomic.staged_folder(output) as folder:
        yield folder


@contextmanager
def _as_build_errors() -> Iterator[None]:
    try:
        yield
    except DatasetError as error:
        raise BuildError(error.path, error.problem, remedy=error.remedy) from error


@contextmanager
def explained(output: Path) -> Iterator[None]:
    """Turn a system error of writing into one clear line."""
    with _as_build_errors(), atomic.output_errors(output):
        yield


def write_tables(folder: Path, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Write every table as an uncompressed Arrow IPC file; return the manifest's ``files``."""
    return {name: _write_table(folder / name, table) for name, table in tables.items()}


def _write_table(path: Path, table: pa.Table) -> dict[str, Any]:
    batch = table.combine_chunks().to_batches()[0]
    with path.open("wb") as stream, pa.ipc.new_file(stream, batch.schema) as writer:
        writer.write_batch(batch)
    atomic.fsync_file(path)
    return describe(path)


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the canonical manifest; without it a folder is no dataset, so it comes last."""
    path = folder / fmt.MANIFEST
    path.write_bytes(fmt.canonical(manifest))
    atomic.fsync_file(path)


def check_written(folder: Path, output: Path) -> None:
    """Raise BuildError where what was written is not whole; then it is not to get its name."""
    try:
        verify(folder)
    except DatasetError as error:
        problem = f"what was written is damaged: {Path(error.path).name}: {error.problem}"
        raise BuildError(output, problem, remedy="build it again on another disk") from error
