"""A dataset as a source: a partition whose intervals have the tuples of its rows.

Its bytes are compared with the digests of its manifest, and its structure is checked, before
anything is used as an index. The files stay mapped until the build ends. A row of the location
table is one tuple of the layer location, with the codes of its country and its zone. A row of the
network or the own table has a tuple in each of its layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from geolookup.archives.head import is_archive
from geolookup.archives.members import SUFFIX
from geolookup.archives.unpack import unpack
from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field, in_table
from geolookup.contract.schema import Schema, column_members, own_schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, starts_of, without_nulls
from geolookup.dataset.manifest import is_dataset
from geolookup.dataset.metadata import Metadata
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes
from geolookup.errors import BuildError, DatasetError, count_text, short_id
from geolookup.filesystem.unpacking import reading_errors
from geolookup.integrity import read_tables
from geolookup.integrity.tables import DatasetTables
from geolookup.store import pointer, resolve
from geolookup.store.paths import BUNDLED, BUNDLED_NAME
from geolookup_builder.build_report import SourceReport
from geolookup_builder.columns import ROW, Partition
from geolookup_builder.layer_values import Column, LayerValues, distinct
from geolookup_builder.layers import restrict
from geolookup_builder.recipe.document import Recipe, SourceSpec
from geolookup_builder.recipe.table import recipe_errors
from geolookup_builder.tables import list_texts

#: By layer, the table whose rows have its tuples, and the number of each row's.
Numbers = Mapping[str, tuple[str, Codes]]
#: The texts of a source that a dataset has from the sources behind it.
_OF_SOURCES = ("date", "licence", "attribution", "url")


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset opened as a source, its bytes and its structure checked."""

    name: str  # of the recipe, else of its manifest
    metadata: Metadata
    tables: DatasetTables
    families: dict[int, Partition]  # its intervals by their rows

    @property
    def schema(self) -> Schema:
        """Its fields."""
        return self.tables.manifest.schema

    def numbers(self, layers: Mapping[str, LayerValues], fields: frozenset[str]) -> Numbers:
        """Add the tuples of its rows to layers; ``fields`` are those that the recipe reads."""
        numbers: dict[str, tuple[str, Codes]] = {}
        for layer, values in layers.items():
            names = [name for name in self.schema.stated.get(layer, ()) if name in fields]
            columns = {name: self._column(self.schema.by_source_column[name]) for name in names}
            if columns:
                rows = len(columns[names[0]].codes)
                of_row = values.add(distinct(columns, np.zeros(rows, bool)))
                first = self.schema.by_source_column[names[0]]
                numbers[layer] = LOCATION if layer == LOCATION else first.table, of_row
        return numbers

    def partition(self, family: int, numbers: Numbers, kept: Partition | None = None) -> Partition:
        """Return the answers of a family by layer, in the kept space only; without it in all."""
        part = self.families[family]
        rows = part if kept is None else restrict(part, kept)
        return Partition(
            rows.starts,
            {
                layer: of_row[rows.numbers[table]]
                for layer, (table, of_row) in numbers.items()
                if of_row.any()
            },
        )

    def intervals(self) -> dict[int, Partition]:
        """Return the intervals of each family, numbered as rows of one table; 0: unknown."""
        intervals, begin = dict[int, Partition](), 1
        for family, part in self.families.items():
            numbers = np.arange(begin, begin + len(part.starts))
            intervals[family] = Partition(part.starts, {ROW: numbers * any_known(part.numbers)})
            begin += len(numbers)
        return intervals

    def _column(self, field: Field) -> Column:
        """Return the values of a field by row of the table that intervals refer to."""
        values = self.tables.batches[fmt.TABLES[field.table]].column(field.column)
        if pa.types.is_list(values.type):
            values = list_texts(values)
        if not pa.types.is_dictionary(values.type):
            values = values.dictionary_encode()
        codes = without_nulls(values.indices, -1).to_numpy().astype(np.int32, copy=False)
        if field.table in (COUNTRY, ZONE):
            codes = codes[self.tables.batches[fmt.LOCATION].column(field.table).to_numpy()]
        return Column(codes, values.dictionary)

    def countries(self) -> Iterator[dict[str, object]]:
        """Yield the rows of its country table, without the unknown row."""
        names = [field.column for field in in_table(COUNTRY)]
        yield from self.tables.batches[fmt.COUNTRY].select(names).slice(1).to_pylist()

    def provenance(self) -> dict[int, Partition]:
        """Return which of its sources decided each layer, by family."""
        families = {}
        for family, name in fmt.PROVENANCE.items():
            batch = self.tables.batches[name]
            stored = [layer for layer in self.schema.layers if layer in batch.schema.names]
            sources = {layer: numbers_of(batch, layer) for layer in stored}
            families[family] = Partition(starts_of(batch), sources)
        return families

    def report(self, kept: frozenset[str]) -> SourceReport:
        """Return its counts and fields: each interval with a known row counts as a row.

        ``kept`` are the fields that the recipe reads.
        """
        rows = sum(int(np.count_nonzero(any_known(of.numbers))) for of in self.families.values())
        behind = count_text(len(self.metadata.sources), "source")
        note = f"dataset of generation {short_id(self.metadata.generation)} and {behind}"
        known = self.metadata.fields
        columns = self.schema.by_source_column.items()
        report = SourceReport(self.name, rows, rows, has_value=rows > 0, note=note)
        report.fields = tuple(name for name, field in columns if field.path in known)
        report.keep(kept)
        return report


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
    # Windows cannot remove files that are mapped.
    unpacked = TemporaryDirectory(prefix="geolookup-", ignore_cleanup_errors=True)
    with unpacked as folder:
        try:
            path = location(spec)
            with reading_errors(str(path)):
                if path.is_file():
                    unpack(path, path := Path(folder, "dataset"))
            yield _opened(spec, Path(resolve.folder(path)))
        except DatasetError as error:
            raise BuildError(error.path, error.problem, remedy=error.remedy) from error


def _opened(spec: SourceSpec, folder: Path) -> DatasetSource:
    tables = read_tables(folder)
    if spec.manifest and tables.manifest.canonical() != spec.manifest.canonical():
        raise DatasetError(folder, "another dataset has taken its place", "try again")
    metadata = tables.manifest.metadata()
    families = dict[int, Partition]()
    for family, name in fmt.INTERVALS.items():
        batch = tables.batches[name]
        stored = [table for table in fmt.ROW_TABLES if table in batch.schema.names]
        # uint32 in the file; structure() has compared each with the rows of its table.
        rows = {table: numbers_of(batch, table).view(np.int32) for table in stored}
        families[family] = Partition(starts_of(batch), rows)
    tables.release()
    return DatasetSource(spec.texts.get("name", metadata.name), metadata, tables, families)


def with_own_columns(recipe: Recipe, datasets: Mapping[int, DatasetSource]) -> Recipe:
    """Return a recipe with the own columns of its datasets, given by their source's index.

    The recipe's columns come first, then further columns of each dataset in order. A column of the
    same name must be the same in both. Raises BuildError for one that is not, and for more columns
    than a dataset may have.
    """
    if not any(dataset.schema.own for dataset in datasets.values()):
        return recipe
    columns = {field.path: field for field in recipe.schema.own}
    for number, dataset in datasets.items():
        for field in dataset.schema.own:
            one = columns.setdefault(field.path, field)
            if (one.type, one.layer, one.private) != (field.type, field.layer, field.private):
                problem = f"{field.path} has another type, group or private in {dataset.name}"
                remedy = "declare it in [columns] as the dataset does, or choose another name"
                raise BuildError(recipe.path, f"source {number + 1}: {problem}", remedy=remedy)
    with recipe_errors(recipe.path, "columns of datasets: "):
        schema = own_schema([column_members(field) for field in columns.values()])
    sources = [*recipe.sources]
    for number, dataset in datasets.items():
        spec = sources[number]
        if spec.fields >= spec.schema.by_source_column.keys():  # it chooses no fields
            own = frozenset(field.source_column for field in dataset.schema.own)
            sources[number] = replace(spec, fields=spec.fields | own)
    return replace(recipe, schema=schema, sources=tuple(sources))
