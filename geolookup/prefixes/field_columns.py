"""The values of some fields, by the rows of the tables that intervals refer to.

Strategy: fields of countries and zones are taken once for each location, texts as a dictionary: a
batch of ranges only takes indices. Rows with the same values are represented by the
first of them. Then equal values are equal row numbers, and a number a table and range are all
codes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import Field
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Addresses, Bools
from geolookup.dataset.public_ranges import RangeBatch, RowNumbers
from geolookup.prefixes.spans import I32, Spans
from geolookup.tables.row_tables import first_equal_rows, row_tables, table_of


class FieldColumns:
    """The values of some fields: an array by field, by row of its large table."""

    def __init__(self, dataset: Dataset, fields: Sequence[Field]) -> None:
        """Raise DatasetError if the tables of the dataset are damaged."""
        row_values = row_tables(dataset)
        #: by name of a field's column
        self.by_row = {field.name: row_values.by_row(field) for field in fields}
        self._table = {field.name: table_of(field) for field in fields}
        self.schema = pa.schema([(name, column.type) for name, column in self.by_row.items()])
        #: by table and row, the first row with the same values; 0 if all are null
        self._first_equal = first_equal_rows(dataset, fields)
        #: the tables of the codes, in their order
        self.tables = tuple(self._first_equal)

    def table_of(self, name: str) -> str:
        """Return the table whose rows a column is by."""
        return self._table[name]

    def has_any(self, rows: RowNumbers) -> Bools:
        """Return for n ranges whether any of the fields is known."""
        # Row 0 of a table is "unknown", and so are rows that equal it in these fields.
        is_known: Bools = np.logical_or.reduce([codes != 0 for codes in self._codes(rows)])
        return is_known

    def _codes(self, rows: RowNumbers) -> tuple[I32, ...]:
        return tuple(first[rows[table]] for table, first in self._first_equal.items())

    def spans(self, ranges: RangeBatch) -> Spans:
        """Return n ranges whose codes are, by table, the first rows with the same values."""
        first = Addresses(ranges.first_low, ranges.first_high)
        last = Addresses(ranges.last_low, ranges.last_high)
        return Spans(ranges.family, first, last, self._codes(ranges.rows))

    def take(self, codes: Sequence[I32]) -> list[pa.Array]:
        """Return a column a field for n ranges, given by the codes of each table."""
        rows = self.by_table(codes)
        return [column.take(rows[self._table[name]]) for name, column in self.by_row.items()]

    def by_table(self, codes: Sequence[I32]) -> dict[str, pa.Array]:
        """Return the codes of n ranges by table."""
        return {table: pa.array(column) for table, column in zip(self.tables, codes, strict=True)}
