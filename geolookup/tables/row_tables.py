"""The dataset's row tables as Arrow arrays, the input of ``take``.

Strategy: Arrow reads the mapped files in place. Columns are checked once and cached while the
dataset is open. Texts of countries are not dictionaries in the file; they become dictionaries here,
because every country repeats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, TEXT, ZONE, Field
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import array_of, type_of, with_items
from geolookup.dataset.files import Dataset, outside
from geolookup.dataset.runs import factorize
from geolookup.errors import REBUILD, DatasetError
from geolookup.tables.row_major import MOST_COLUMNS, RowMajor, is_stored

_TEXT = pa.dictionary(pa.int32(), pa.string())
#: The number of columns of a table from which the row-major copy is faster.
ROW_MAJOR_FROM = 3
# Weak: the tables are freed with their dataset.
_cache: WeakKeyDictionary[Dataset, RowTables] = WeakKeyDictionary()


def row_tables(dataset: Dataset) -> RowTables:
    """Return the row tables of an open dataset, read at the first call."""
    tables = _cache.get(dataset)
    if tables is None:
        tables = _cache[dataset] = RowTables(dataset)
    return tables


def table_of(field: Field) -> str:
    """Return the table that decides a stored field, one of ``layout.ROW_TABLES``.

    It is the table that stores the field, or LOCATION if locations refer to that table.
    """
    return LOCATION if field.table in fmt.LINKS else field.table


def first_equal_rows(dataset: Dataset, fields: Sequence[Field]) -> Mapping[str, NDArray[np.int32]]:
    """Return by table, for each row, the first row with the same values of fields.

    The tables are ``layout.row_tables`` of the fields. The row is 0 if all values are null. Raises
    DatasetError for a damaged dataset.
    """
    tables, counts = row_tables(dataset), dataset.row_counts()
    columns: dict[str, list[NDArray[np.int64]]] = {table: [] for table in fmt.row_tables(fields)}
    for field in fields:
        columns[table_of(field)].append(_numbers(tables.by_row(field)))
    result = {}
    for table, values in columns.items():
        of_row, first = factorize(values, counts[table])
        # Numbers 0 1 0: first rows 0 1, so rows 0 1 0.
        result[table] = first[of_row].astype(np.int32)
    return result


def _numbers(column: pa.Array) -> NDArray[np.int64]:
    """Return numbers that are equal where values are; 0 is null."""
    if pa.types.is_list(column.type):
        # The numbers of their items, joined; not the items: a text may hold any separator.
        items = column.flatten().dictionary_encode().indices.cast(pa.string())
        column = pc.binary_join(with_items(column, items), " ")
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers: NDArray[np.int64] = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy() + 1
    return numbers


class RowTables:
    """The columns of the row tables of a dataset, by the field that they hold."""

    def __init__(self, dataset: Dataset) -> None:
        # No reference to the dataset: a value that refers to its weak key would keep it alive.
        #: the zones' names by row; the first is None
        self.zones = dataset.zones()
        #: by table, the number of its rows
        self.counts = dataset.row_counts()
        self._columns = {table: _columns(dataset, table) for table in (COUNTRY, *self.counts)}
        sizes = {table: len(next(iter(of.values()))) for table, of in self._columns.items()}
        if any(sizes[table] != count for table, count in self.counts.items()):
            raise outside(dataset.path)
        for link, size in {COUNTRY: sizes[COUNTRY], ZONE: len(self.zones)}.items():
            rows = self._columns[LOCATION][link]
            if rows.null_count or pc.max(rows).as_py() >= size:
                raise _damaged(dataset, LOCATION, f"column {link} points outside its table")
        self._row_major: dict[str, RowMajor] = {}
        self._by_row: dict[Field, pa.Array] = {}

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table; a location's links are columns too."""
        return self._columns[table][column]

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        if field.table == ZONE:
            return pa.array(self.zones, pa.string()).dictionary_encode()
        return self.values(field.table, field.column)

    def by_row(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of ``table_of`` the field."""
        if field.table not in fmt.LINKS:
            return self.column(field)
        if field not in self._by_row:
            self._by_row[field] = self.column(field).take(self.values(LOCATION, field.table))
        return self._by_row[field]

    def take(
        self, table: str, rows: NDArray[np.uint32], columns: Collection[str]
    ) -> dict[str, pa.Array]:
        """Return columns of a table for n rows; IndexError for a row that does not exist."""
        stored = self._stored(table)
        together = [name for name in columns if name in stored]
        arrays: dict[str, pa.Array] = {}
        if len(together) >= ROW_MAJOR_FROM:
            if table not in self._row_major:
                self._row_major[table] = RowMajor(stored)
            arrays = self._row_major[table].take(rows, together)
        indices = array_of(rows)
        return {
            name: arrays[name] if name in arrays else self.values(table, name).take(indices)
            for name in columns
        }

    def _stored(self, table: str) -> dict[str, pa.Array]:
        """Return the columns that the row-major copy of a table has."""
        columns = self._columns[table].items()
        return dict(islice(((n, c) for n, c in columns if is_stored(c.type)), MOST_COLUMNS))


def _columns(dataset: Dataset, table: str) -> dict[str, pa.Array]:
    """Return the columns of one file by name, checked; texts are dictionaries."""
    fields = dataset.schema.in_table(table)
    kinds = {field.column: _TEXT if field.type == TEXT else type_of(field) for field in fields}
    if table == LOCATION:
        kinds |= dict.fromkeys(fmt.LINKS, pa.uint16())
    try:
        content = pa.py_buffer(dataset.file_bytes(fmt.TABLES[table]))
        batch = pa.ipc.open_file(content).get_batch(0).select([*kinds])
        batch.validate(full=True)
    except MemoryError:  # Arrow's is an ArrowException too
        raise
    # IndexError: no batch; ValueError: a name that is not UTF-8.
    except (pa.ArrowException, OSError, ValueError, KeyError, IndexError) as error:
        raise _damaged(dataset, table, "damaged") from error
    columns = {}
    for (name, kind), column in zip(kinds.items(), batch.columns, strict=True):
        if column.type == pa.string():
            column = column.dictionary_encode()
        elif pa.types.is_dictionary(column.type):
            # One index width for all datasets: then results have one type.
            indices = column.indices.cast(pa.int32())
            column = pa.DictionaryArray.from_arrays(indices, column.dictionary)
        if column.type != kind or not len(column):
            raise _damaged(dataset, table, f"column {name} is not of its type")
        columns[name] = column
    return columns


def _damaged(dataset: Dataset, table: str, problem: str) -> DatasetError:
    return DatasetError(f"{dataset.path}/{fmt.TABLES[table]}", problem, REBUILD)
