"""``geolookup.upgrade``: converts a dataset of the former format version to the current one.

Strategy: the versions differ in the checksums of rows, which were CRC-32 (ISO 3309), and in the
files of ``explain = "full"``. Digests, layout, checksums and generation id of the former dataset
are checked first. Then checksums and these files are replaced. The dataset is written and verified
as the compiler does it, so its bytes are those of a compile from the same sources.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.dataset import arrow_files
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import is_dataset, read_manifest
from geolookup.errors import DatasetError
from geolookup.filesystem import atomic
from geolookup.integrity import files, verify
from geolookup.integrity.coverage import generation
from geolookup.integrity.shapes import shapes
from geolookup.integrity.tables import Tables, damaged
from geolookup.integrity.texts import compared
from geolookup.store import follow, pointer
from geolookup.store.publish import publish
from geolookup.updates.in_store import updating


def upgrade(
    dataset: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> str:
    """Convert a dataset of the former format version to the current one; return its generation id.

    ``dataset`` is a dataset folder, which is replaced, or a store: then its current generation is
    converted and published. With ``output`` it stays as it is, and the result is a new dataset
    folder; with ``force`` that replaces an existing dataset. Answers do not change. A dataset of
    the current version stays as it is. Raises DatasetError for a dataset that is missing, damaged
    or of another version, OutputError for a folder that exists or cannot be written. On an error
    nothing changes.
    """
    place = Path(dataset)
    source = Path(follow.folder(os.fspath(place)))
    if output is not None:
        atomic.check_folder(Path(output), force=force, replaceable=is_dataset)
        return _written(source, Path(output))
    if is_current(source):
        return read_manifest(source).generation
    if source == place:
        _check_is_no_generation(place)
        return _written(source, place.resolve())
    with updating(place, lambda _text: None) as staging:
        source = Path(follow.folder(os.fspath(place)))  # again: an update may have ended meanwhile
        if is_current(source):
            return read_manifest(source).generation
        _written(source, staging / "dataset")
        if source != Path(follow.folder(os.fspath(place))):
            raise DatasetError(place, "a generation was published meanwhile", "upgrade again")
        return publish(staging / "dataset", place)


def is_current(dataset: Path) -> bool:
    """Return whether a dataset, or the current one of a store, is of the current format version.

    Raises DatasetError where there is none, and for a version that ``upgrade`` does not convert.
    """
    source = follow.folder(os.fspath(dataset))
    try:
        read_manifest(source)
    except DatasetError:
        read_manifest(source, fmt.FORMER_VERSION)
        return False
    return True


def _check_is_no_generation(folder: Path) -> None:
    """Raise DatasetError for a folder of a store: a generation has the name of its content."""
    generations = folder.resolve().parent
    if generations.name == pointer.GENERATIONS and pointer.read(str(generations.parent)):
        remedy = f"run 'geolookup upgrade {generations.parent}'"
        raise DatasetError(folder, "a generation of a store, which never changes", remedy)


def _written(source: Path, output: Path) -> str:
    """Write the dataset of a folder in the current version; return its generation id."""
    from geolookup_builder import write

    former = _checked(source)
    tables = _tables(former)
    manifest = former.manifest.of_version(fmt.FORMAT_VERSION)
    content = arrow_files.generation(manifest, tables)
    with atomic.staged_folder(output) as folder:
        described = write.write_tables(folder, tables)
        write.write_manifest(folder, manifest.completed(content, described))
        _verify(folder, source)
    return content


def _verify(folder: Path, source: Path) -> None:
    """Verify the converted dataset; any damage in it was in the former one, which errors name."""
    try:
        verify(folder)
    except DatasetError as error:
        raise DatasetError(source / Path(error.path).name, error.problem, error.remedy) from error


def _checked(folder: Path) -> Tables:
    """Return the tables of a dataset of the former version; DatasetError where it is damaged."""
    manifest = files.manifest_of(folder, fmt.FORMER_VERSION)
    tables = Tables(folder, manifest, {})
    steps = [files.digests(folder, manifest), files.form(tables), files.load(tables)]
    steps += [shapes(tables, fmt.FORMER_COLUMNS), _checksums(tables), compared(tables)]
    steps += [generation(tables)]  # after the texts, which bound what dictionaries decode to
    for damage in chain.from_iterable(steps):
        raise damage
    return tables


def _checksums(tables: Tables) -> Iterator[DatasetError]:
    """Yield the rows whose checksum is wrong."""
    for name, batch in tables.batches.items():
        if fmt.FORMER_CHECKSUMS in batch.schema.names:
            yield from _checksums_of(tables, name)


def _checksums_of(tables: Tables, name: str) -> Iterator[DatasetError]:
    texts = tables.batches[name].column("json")
    _, offsets, data = texts.buffers()
    data_bytes = memoryview(data or b"")
    bounds = np.frombuffer(offsets, np.int32)[: len(texts) + 1].tolist()
    right = [zlib.crc32(data_bytes[start:end]) for start, end in pairwise(bounds)]
    bad = tables.numbers(name, fmt.FORMER_CHECKSUMS) != np.array(right, np.uint32)
    return tables.bad(name, fmt.FORMER_CHECKSUMS, bad, "not the checksum of the row's text")


def _tables(former: Tables) -> dict[str, pa.Table]:
    """Return the tables of the current version; DatasetError for source rows that are damaged."""
    from geolookup_builder import former_source_rows

    explaining = former.manifest.explains_rows
    kept = [name for name in former.batches if not explaining or name in fmt.FILES]
    tables = {name: _converted(former.batches[name]) for name in kept}
    if not explaining:
        return tables
    try:
        return tables | former_source_rows.converted(former.batches)
    except (ValueError, LookupError, pa.ArrowException, MemoryError) as error:
        problem = f"its source rows are damaged ({(str(error) or 'no memory').splitlines()[0]})"
        raise damaged(former.folder / fmt.FORMER_ROWS, problem) from error


def _converted(batch: pa.RecordBatch) -> pa.Table:
    """Return a table with checksums of the current version instead of the former ones."""
    from geolookup_builder.fragments import checksums

    table = pa.Table.from_batches([batch])
    at = batch.schema.get_field_index(fmt.FORMER_CHECKSUMS)
    if at < 0:
        return table
    return table.set_column(at, fmt.CHECKSUMS, pa.array(checksums(batch.column("json"))))
