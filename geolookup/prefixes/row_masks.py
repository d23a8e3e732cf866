"""Which rows of the location and network tables meet conditions.

Strategy: a field belongs to one of the two tables, or to a table that locations refer to. So a
condition marks rows of one table, and an interval meets all conditions if both of its rows do.
The tables have far fewer rows than the dataset has intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from geolookup.contract.fields import LOCATION, NETWORK
from geolookup.dataset import layout as fmt
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.public_ranges import U32
from geolookup.errors import near_match
from geolookup.prefixes.conditions import Condition, shown
from geolookup.prefixes.predicates import Among, distinct
from geolookup.tables.rows import RowTables, row_tables, table_of

#: The values of a condition that are named: to find a city that is like one takes half a second.
_NAMED = 5


class RowMasks(NamedTuple):
    """The rows that meet conditions: a mark for each row of the location and network tables."""

    location: Bools
    network: Bools

    def chosen(self, location_rows: U32, network_rows: U32) -> Bools:
        """Mark the intervals that meet the conditions, by their rows in both tables."""
        marks: Bools = self.location[location_rows] & self.network[network_rows]
        return marks


def row_masks(dataset: Dataset, conditions: Iterable[Condition]) -> RowMasks:
    """Return the rows that meet all conditions.

    Row 0, of which nothing is known, is marked where unknown values meet the conditions. Raises
    DatasetError where the dataset is damaged.
    """
    tables = row_tables(dataset)
    marks = {
        LOCATION: np.ones(len(dataset.locations), bool),
        NETWORK: np.ones(len(dataset.networks), bool),
    }
    for each in conditions:
        marks[table_of(each.fields[0])] &= _marks(tables, each)
    return RowMasks(marks[LOCATION], marks[NETWORK])


def _marks(tables: RowTables, condition: Condition) -> Bools:
    """Mark the rows of the location or network table that meet one condition."""
    columns = map(tables.column, condition.fields)
    marks: Bools = condition.predicate.marks(*columns) ^ condition.negated
    table = condition.fields[0].table
    if table in fmt.LINKS:  # a table to which locations refer
        marks = marks[tables.values(LOCATION, table).to_numpy()]
    return marks


def absent_values(dataset: Dataset, conditions: Iterable[Condition]) -> Iterator[str]:
    """Yield a line for each value of a condition that no row of the dataset has.

    Of a condition with many of them, one more line states how many others there are.
    """
    tables = row_tables(dataset)
    for each in conditions:
        if isinstance(each.predicate, Among):
            (field,) = each.fields
            column = tables.column(field)
            absent = list(dict.fromkeys(each.predicate.absent(column)))
            for value in absent[:_NAMED]:
                known = distinct(column).to_pylist() if isinstance(value, str) else ()
                hint = near_match(value, known, fallback="check its spelling")
                line = f"no answer has the {field.path} {shown(value)}"
                yield line + (f"; {hint}" if known else "")
            if len(absent) > _NAMED:
                yield f"no answer has {len(absent) - _NAMED:,} more values of {field.path}"
