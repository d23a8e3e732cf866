"""Which rows of the location and network tables meet conditions.

Strategy: a field belongs to one of the two tables, or to a table that locations refer to. So a
condition marks rows of one table, and an interval meets all conditions if both of its rows do.
The tables have far fewer rows than the dataset has intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.fields import LOCATION, NETWORK, ZONE, Field
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset, outside
from geolookup.dataset.intervals import Bools
from geolookup.dataset.public_ranges import U32
from geolookup.errors import near_match
from geolookup.prefixes.conditions import Condition, Where, conditions_of
from geolookup.prefixes.predicates import Among, distinct
from geolookup.tables.rows import RowTables, row_tables


class RowMasks(NamedTuple):
    """The rows that meet conditions: a mark for each row of the location and network tables."""

    location: Bools
    network: Bools

    def chosen(self, location_rows: U32, network_rows: U32) -> Bools:
        """Mark the intervals that meet the conditions, by their rows in both tables."""
        marks: Bools = self.location[location_rows] & self.network[network_rows]
        return marks


def row_masks(dataset: Dataset, where: Where, not_: Where = None) -> RowMasks:
    """Return the rows that meet all conditions of ``where`` and none of ``not_``.

    Row 0, of which nothing is known, is marked where unknown values meet the conditions. Raises
    ValueError for a malformed condition, DatasetError where the dataset is damaged.
    """
    return masks_of(dataset, (*conditions_of(where), *conditions_of(not_, negated=True)))


def masks_of(dataset: Dataset, conditions: Iterable[Condition]) -> RowMasks:
    """Return the rows that meet all conditions."""
    tables = row_tables(dataset)
    marks = {
        LOCATION: np.ones(len(dataset.locations), bool),
        NETWORK: np.ones(len(dataset.networks), bool),
    }
    for each in conditions:
        found = each.predicate.marks(*(column_of(tables, field) for field in each.fields))
        table = table_of(each.fields[0])
        found = by_row(tables, each.fields[0], found)
        if len(found) != len(marks[table]):
            raise outside(dataset.path)
        marks[table] &= found ^ each.negated
    return RowMasks(marks[LOCATION], marks[NETWORK])


def column_of(tables: RowTables, field: Field) -> pa.Array:
    """Return the values of a field, one for each row of the table that stores it."""
    if field.table == ZONE:
        return pa.array(tables.zones, pa.string()).dictionary_encode()
    return tables.columns[field]


def table_of(field: Field) -> str:
    """Return the table, of the two that intervals refer to, whose rows have values of a field."""
    return LOCATION if field.table in fmt.LINKS else field.table


def by_row(tables: RowTables, field: Field, values: NDArray[Any]) -> NDArray[Any]:
    """Return values for the rows of ``table_of``, from those of the table that stores the field."""
    if field.table not in fmt.LINKS:
        return values
    links: NDArray[np.uint16] = tables.values(LOCATION, field.table).to_numpy()
    return np.asarray(values[links])


def absent_values(dataset: Dataset, conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield a line for each value of a condition that no row of the dataset has."""
    tables = row_tables(dataset)
    for each in conditions:
        if isinstance(each.predicate, Among):
            (field,) = each.fields
            column = column_of(tables, field)
            for value in each.predicate.absent(column):
                known = distinct(column).to_pylist() if isinstance(value, str) else ()
                hint = near_match(value, known, fallback="check its spelling")
                yield f"no answer has the {field.path} {value!r}" + (f"; {hint}" if known else "")
