"""A dataset as a source: its intervals, tables and provenance as arrays, without a vendor's files.

Its bytes are compared with the digests of its manifest, and its structure is checked, before
anything is used as an index. The files stay mapped until the build ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from geolookup.archives.head import is_archive
from geolookup.archives.members import SUFFIX
from geolookup.archives.unpack import unpack
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, starts_of
from geolookup.dataset.intervals import Addresses
from geolookup.dataset.manifest import is_dataset
from geolookup.dataset.metadata import Metadata
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes
from geolookup.errors import BuildError, DatasetError, count_text
from geolookup.filesystem.unpacking import reading_errors
from geolookup.integrity import read_tables
from geolookup.integrity.tables import Tables
from geolookup.store import pointer, resolve
from geolookup.store.paths import BUNDLED, BUNDLED_NAME
from geolookup_builder.build_report import SourceReport
from geolookup_builder.layers import Provenance
from geolookup_builder.recipe.document import SourceSpec

#: The texts of a source that a dataset has from the sources behind it.
_OF_SOURCES = ("date", "licence", "attribution", "url")


@dataclass(frozen=True, slots=True)
class RowPartition:
    """The gap-free partition of one family in a dataset: the rows of each interval."""

    starts: Addresses
    rows: dict[str, Codes]  # by table; 0: unknown


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset opened as a source, its bytes and its structure checked."""

    name: str  # of the recipe, else of its manifest
    metadata: Metadata
    tables: Tables
    partitions: dict[int, RowPartition]  # by family
    used_rows: Mapping[str, pa.RecordBatch] = field(default_factory=dict)  # if not all are used

    @property
    def schema(self) -> Schema:
        """Its fields."""
        return self.tables.manifest.schema

    @property
    def batches(self) -> Mapping[str, pa.RecordBatch]:
        """Its mapped files by name, or the rows of them that are used."""
        return {**self.tables.batches, **self.used_rows}

    def provenance(self) -> dict[int, Provenance]:
        """Return which of its sources decided each layer, by family."""
        layers = self.schema.layers
        return {
            family: _provenance(self.batches[name], layers)
            for family, name in fmt.PROVENANCE.items()
        }

    def report(self) -> SourceReport:
        """Return its counts: each interval with a known row counts as a row."""
        rows = sum(
            int(np.count_nonzero(any_known(partition.rows)))
            for partition in self.partitions.values()
        )
        behind = count_text(len(self.metadata.sources), "source")
        note = f"dataset of generation {self.metadata.generation[:12]} and {behind}"
        return SourceReport(self.name, read=rows, used=rows, has_value=rows > 0, note=note)

    def known_fields(self) -> list[str]:
        """Return the fields that it has, by their names in sources."""
        known = self.metadata.fields
        fields = self.schema.by_source_column
        return [name for name, field in fields.items() if field.path in known]

    def source_rows(self) -> int:
        """Return the usable rows of the sources behind it, as far as its manifest has them."""
        return sum(source.rows or 0 for source in self.metadata.sources)


def is_dataset_path(spec: SourceSpec) -> bool:
    """Return whether a source without a format is a dataset, a store or an archive of ``pack``."""
    path = spec.base / spec.path
    with reading_errors(str(path)):  # such as a name longer than the system allows
        if path.is_dir():
            return is_dataset(path) or (path / pointer.CURRENT).is_file()
        if spec.path == BUNDLED_NAME and not path.exists():
            return True
        return path.name.endswith(SUFFIX) and is_archive(path)


def location(spec: SourceSpec) -> Path:
    """Return the path of a dataset that is a source; ``bundled`` is the bundled one."""
    return Path(BUNDLED) if spec.path == BUNDLED_NAME else spec.base / spec.path


@contextmanager
def open_source(spec: SourceSpec) -> Iterator[DatasetSource]:
    """Open a dataset: a folder, the current one of a store, an archive, or the bundled one.

    Raises BuildError for keys that belong to the sources behind it, and for damage.
    """
    for key in _OF_SOURCES:
        if key in spec.texts:
            problem = f"source.{key} belongs to the sources behind a dataset"
            raise BuildError(spec.recipe, problem, remedy="drop it: the dataset has it")
    with _dataset_errors(), _temporary_folder() as unpacked:
        path = location(spec)
        with reading_errors(str(path)):
            if path.is_file():
                unpack(path, path := Path(unpacked, "dataset"))
        yield _source(spec, Path(resolve.folder(path)))


def _temporary_folder() -> TemporaryDirectory[str]:
    # Windows cannot remove files that are mapped.
    return TemporaryDirectory(prefix="geolookup-", ignore_cleanup_errors=True)


@contextmanager
def _dataset_errors() -> Iterator[None]:
    """Raise the DatasetError of a source as the BuildError of its recipe."""
    try:
        yield
    except DatasetError as error:
        raise BuildError(error.path, error.problem, remedy=error.remedy) from error


def _source(spec: SourceSpec, folder: Path) -> DatasetSource:
    tables = read_tables(folder)
    if spec.manifest and tables.manifest.canonical() != spec.manifest.canonical():
        raise DatasetError(folder, "another dataset has taken its place", "try again")
    metadata = tables.manifest.metadata()
    partitions = {family: _rows(tables.batches[name]) for family, name in fmt.INTERVALS.items()}
    name = spec.texts.get("name", metadata.name)
    tables.release()
    return DatasetSource(name, metadata, tables, partitions)


def _rows(batch: pa.RecordBatch) -> RowPartition:
    # uint32 in the file; structure() has compared each with the rows of its table.
    tables = [table for table in fmt.ROW_TABLES if table in batch.schema.names]
    rows = {table: numbers_of(batch, table).view(np.int32) for table in tables}
    return RowPartition(starts_of(batch), rows)


def _provenance(batch: pa.RecordBatch, layers: Sequence[str]) -> Provenance:
    stored = [layer for layer in layers if layer in batch.schema.names]
    return Provenance(starts_of(batch), {layer: numbers_of(batch, layer) for layer in stored})
