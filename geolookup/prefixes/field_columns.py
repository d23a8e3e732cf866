"""The values of some fields, by the rows of the location and of the network table.

Strategy: fields of countries and zones are taken once for each location, texts as a dictionary: a
batch of ranges only takes indices. Rows with the same values are represented by the
first of them. Then equal values are equal row numbers, and two numbers a range are all codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa

from geolookup.contract.fields import NETWORK, Field
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.public_ranges import U32, Ranges
from geolookup.prefixes.spans import I32, Halves, Spans
from geolookup.tables.row_tables import first_equal_rows, row_tables

#: For n ranges, the first location row and the first network row with the same values.
Codes: TypeAlias = tuple[I32, I32]


class FieldColumns:
    """The values of some fields: an array by field, by row of its large table."""

    def __init__(self, dataset: Dataset, fields: Sequence[Field]) -> None:
        """Raise DatasetError if the tables of the dataset are damaged."""
        tables = row_tables(dataset)
        #: by name of a field's column
        self.by_row = {field.name: tables.by_row(field) for field in fields}
        self._of_network = {field.name for field in fields if field.table == NETWORK}
        self.schema = pa.schema([(name, column.type) for name, column in self.by_row.items()])
        #: the rows of each table
        self.counts = len(dataset.locations), len(dataset.networks)
        #: by row of each table, the first row with the same values; 0 if all are null
        self._locations, self._networks = first_equal_rows(dataset, fields)

    def is_of_network(self, name: str) -> bool:
        """Return whether a column is by row of the network table."""
        return name in self._of_network

    def of_table(self, *, network: bool) -> dict[str, pa.Array]:
        """Return the columns by row of one table."""
        return {
            name: column
            for name, column in self.by_row.items()
            if self.is_of_network(name) == network
        }

    def has_any(self, locations: U32, networks: U32) -> Bools:
        """Return for n pairs of rows whether any of the fields is known."""
        # Row 0 of both tables is "unknown", and so are rows that equal it in these fields.
        # "or" of two row numbers is 0 only if both are.
        is_known: Bools = (self._locations[locations] | self._networks[networks]) != 0
        return is_known

    def spans(self, ranges: Ranges) -> Spans:
        """Return n ranges whose codes are the first rows with the same values."""
        first = Halves(ranges.first_high, ranges.first_low)
        last = Halves(ranges.last_high, ranges.last_low)
        codes = self._locations[ranges.location_rows], self._networks[ranges.network_rows]
        return Spans(ranges.family, first, last, codes)

    def take(self, locations: I32, networks: I32) -> list[pa.Array]:
        """Return a column a field for n pairs of rows."""
        rows = pa.array(locations), pa.array(networks)
        return [column.take(rows[self.is_of_network(name)]) for name, column in self.by_row.items()]
