"""The dataset that a build writes: its manifest, tables and signature, in a staging directory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from geolookup.contract.schema import column_members
from geolookup.dataset.arrow_files import counts, describe, known_fields
from geolookup.dataset.manifest import COLUMNS, Manifest
from geolookup.dataset.metadata import Source
from geolookup.errors import DatasetError, OutputError
from geolookup.filesystem import atomic
from geolookup.filesystem.ownership import create
from geolookup.integrity import VerifiedDataset
from geolookup.parallel import in_order, threads_for
from geolookup_builder.columns import Columns
from geolookup_builder.dataset_source import DatasetSource
from geolookup_builder.enrichment import Finder
from geolookup_builder.recipe.document import Recipe
from geolookup_builder.reference import credits_of

#: Bytes of a column that are written at once.
_PART = 1 << 23


def manifest(
    recipe: Recipe,
    sources: Sequence[Source],
    tables: Mapping[str, pa.Table],
    finders: Iterable[Finder],
    datasets: Iterable[DatasetSource],
) -> Manifest:
    """Return the manifest without generation and files. Each credit is listed once.

    ``datasets`` are the sources that are datasets.
    """
    reference = ["countries"] if recipe.countries is None else []
    credited = [*reference, *(finder.field for finder in finders)]
    own = chain.from_iterable(map(credits_of, credited))
    of_datasets = chain.from_iterable(dataset.metadata.credits for dataset in datasets)
    # By layer, the known addresses of all sources together.
    coverage = {
        layer: {
            family: sum(source.coverage.get(layer, {}).get(family, 0) for source in sources)
            for family in ("ipv4", "ipv6")
        }
        for layer in recipe.schema.layers
    }
    columns = [*map(column_members, recipe.schema.own)]
    return Manifest.of(
        name=recipe.name,
        sources=[source.members() for source in sources],
        credits=[*{tuple(sorted(c.items())): dict(c) for c in (*own, *of_datasets)}.values()],
        fields=known_fields(tables, recipe.schema),
        counts=counts(tables),
        coverage=coverage,
        **({COLUMNS: columns} if columns else {}),
    )


def write_tables(
    folder: Path, tables: Mapping[str, pa.Table], columns: Columns
) -> dict[str, dict[str, Any]]:
    """Write every table as an uncompressed Arrow IPC file; return the manifest's ``files``.

    ``columns`` hold the columns of the tables.
    """
    # The longest first: the threads then end at about the same time.
    by_size = sorted(tables, key=lambda name: -tables[name].num_rows)

    def write_table(name: str) -> dict[str, Any]:
        return _write_table(folder / name, tables[name], columns)

    with in_order(write_table, by_size, threads_for(tables[by_size[0]].num_rows)) as results:
        return dict(zip(by_size, results, strict=True))


def _write_table(path: Path, table: pa.Table, columns: Columns) -> dict[str, Any]:
    # combine_chunks leaves one chunk a column: one batch, mapped as one buffer for each column.
    batch = table.combine_chunks().to_batches()[0]
    with (
        create(path) as stream,
        pa.ipc.new_file(_InParts(stream, columns), batch.schema) as writer,
    ):
        writer.write_batch(batch)
    atomic.fsync(path)
    return describe(path)


class _InParts:
    """A stream for columns that memory may not hold: it writes each part by itself."""

    closed = False  # Arrow asks

    def __init__(self, stream: BinaryIO, columns: Columns) -> None:
        self._stream, self._columns = stream, columns
        self.tell, self.flush = stream.tell, stream.flush

    def write(self, data: bytes | pa.Buffer) -> int:
        """Write a buffer in parts."""
        view = memoryview(data)
        for begin in range(0, len(view), _PART):
            self._stream.write(view[begin : begin + _PART])
            self._columns.release()
        return len(view)


def write(path: Path, text: bytes) -> None:
    """Write a file of the dataset."""
    with create(path) as stream:
        stream.write(text)
    atomic.fsync(path)


def verify(folder: Path, output: Path) -> VerifiedDataset:
    """Verify the written dataset before it is renamed into place; OutputError if it is damaged."""
    try:
        return VerifiedDataset(folder)
    except DatasetError as error:
        problem = f"the written dataset is damaged: {Path(error.path).name}: {error.problem}"
        raise OutputError(output, problem, "build it again on another disk") from error
