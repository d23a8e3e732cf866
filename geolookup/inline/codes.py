"""Numbers of rows: rows of a table have the same one if the chosen fields have the same values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.contract.fields import FIELDS, LOCATION, NETWORK, Field
from geolookup.dataset.files import Dataset
from geolookup.dataset.public_ranges import U32
from geolookup.prefixes.row_masks import by_row, column_of, table_of
from geolookup.tables.rows import RowTables, row_tables


class Codes(NamedTuple):
    """The number of each row of the location and network tables."""

    location: U32
    network: U32

    def of(self, locations: U32, networks: U32) -> tuple[U32, U32]:
        """Return the numbers of rows."""
        return self.location[locations], self.network[networks]


def codes_of(dataset: Dataset, paths: Sequence[str]) -> Codes:
    """Return the numbers of the rows for the fields that paths name."""
    tables = row_tables(dataset)
    codes = {
        LOCATION: np.zeros(len(dataset.locations), np.uint32),
        NETWORK: np.zeros(len(dataset.networks), np.uint32),
    }
    for field in FIELDS:
        if field.path in paths:
            before, table = codes[table_of(field)], table_of(field)
            pairs = before.astype(np.uint64) << np.uint64(32) | _codes(tables, field)
            codes[table] = np.unique(pairs, return_inverse=True)[1].astype(np.uint32)
    return Codes(codes[LOCATION], codes[NETWORK])


def _codes(tables: RowTables, field: Field) -> U32:
    column = column_of(tables, field)
    if pa.types.is_list(column.type):  # Arrow does not number lists; few rows have them
        numbers = np.arange(len(column), dtype=np.uint32)
    else:
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        null = pa.scalar(len(column.dictionary), column.indices.type)
        numbers = column.indices.fill_null(null).to_numpy().astype(np.uint32)
    found: U32 = by_row(tables, field, numbers)
    return found
