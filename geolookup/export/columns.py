"""The chosen fields as columns by row of the location and of the network table.

Strategy: what belongs to a country or a zone is taken once for each location, as a dictionary
wherever it is text, so that a batch of ranges only takes indices. Rows whose chosen values are
all equal are represented by the first of them; then equal values are equal row numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import FIELDS, NETWORK, Field
from geolookup.contract.paths import expanded
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.errors import ExportError
from geolookup.tables.rows import first_equal, row_tables

U32 = NDArray[np.uint32]
I32 = NDArray[np.int32]
#: The fields that a dataset stores; the others depend on the address or the time of a lookup.
STORED = tuple(field for field in FIELDS if field.table)
#: The fields that sources state. The others follow from the country.
DEFAULT = tuple(field for field in STORED if field.source_column)


def fields_of(paths: str | Iterable[str] | None) -> tuple[Field, ...]:
    """Return the fields that paths name, groups expanded, each once; None: ``DEFAULT``.

    Raises ExportError for a path that names no stored field.
    """
    if paths is None:
        return DEFAULT
    unstored = {field.path for field in FIELDS if not field.table}
    paths = (paths,) if isinstance(paths, str) else tuple(paths)
    for path in paths:
        if path in unstored:
            remedy = "write location, time.zone, currency, network or a member of them"
            raise ExportError(f"{path} is not the same for a whole range", remedy)
    try:
        return expanded(paths, STORED)
    except ValueError as error:
        problem, _, remedy = str(error).partition("; ")
        raise ExportError(problem, remedy) from None


class FieldColumns:
    """The values of some fields: an array by field, by row of its large table."""

    def __init__(self, dataset: Dataset, fields: Sequence[Field]) -> None:
        tables = row_tables(dataset)
        #: by name of a field's column
        self.by_row = {field.name: tables.by_row(field) for field in fields}
        self._of_network = {field.name for field in fields if field.table == NETWORK}
        self.schema = pa.schema([(name, each.type) for name, each in self.by_row.items()])
        #: the rows of each table
        self.counts = len(dataset.locations), len(dataset.networks)
        #: by row of each table, the first row with the same values; 0 where all are null
        self._locations, self._networks = (
            first_equal(self.of_table(network=bool(table)).values(), count)
            for table, count in enumerate(self.counts)
        )

    def is_of_network(self, name: str) -> bool:
        """Return whether a column is by row of the network table."""
        return name in self._of_network

    def of_table(self, *, network: bool) -> dict[str, pa.Array]:
        """Return the columns by row of one table."""
        return {
            name: each for name, each in self.by_row.items() if self.is_of_network(name) == network
        }

    def known(self, locations: U32, networks: U32) -> Bools:
        """Return for n pairs of rows whether any of the fields is known."""
        found: Bools = (self._locations[locations] | self._networks[networks]) != 0
        return found

    def first_equal(self, locations: U32, networks: U32) -> tuple[I32, I32]:
        """Return for n pairs of rows the first rows with the same values."""
        return self._locations[locations], self._networks[networks]

    def take(self, locations: I32, networks: I32) -> list[pa.Array]:
        """Return a column a field for n pairs of rows."""
        rows = pa.array(locations), pa.array(networks)
        return [each.take(rows[self.is_of_network(name)]) for name, each in self.by_row.items()]
