"""Own columns of two datasets: the columns that changed, and the values of all as numbers.

A column that only one dataset has is unknown everywhere in the other. Values of a column whose type
differs are compared as answers have them, in JSON: 5 and "5" differ, 5 and 5.0 do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from geolookup.comparison.values import Pair, in_common
from geolookup.contract.fields import OWN, TEXT, Field
from geolookup.contract.schema import TYPES, Schema
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.files import Dataset
from geolookup.files.column_text import json_texts
from geolookup.tables.row_tables import row_tables

#: A column in OLD and in NEW; None in a dataset without it.
Sides = tuple[Field | None, Field | None]
_NAMES = {kind: name for name, kind in TYPES.items()}
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """The own columns that NEW has and OLD has not, and the reverse; the types that differ."""

    added: Sequence[str]  # paths
    removed: Sequence[str]
    retyped: Mapping[str, tuple[str, str]]  # the type in OLD and in NEW, as recipes have it

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of change."""
        if self.added:
            yield f"own columns added    {', '.join(self.added)}"
        if self.removed:
            yield f"own columns removed  {', '.join(self.removed)}"
        for path, (before, after) in self.retyped.items():
            yield f"own column retyped   {path}: {before} in old, {after} in new"


def either_has(old: Schema, new: Schema) -> dict[str, Sides]:
    """Return the own columns of either dataset by path, in the order of NEW."""
    before, after = ({field.path: field for field in side.own} for side in (old, new))
    return {path: (before.get(path), after.get(path)) for path in {**after, **before}}


def column_changes(old: Schema, new: Schema) -> ColumnChanges | None:
    """Return the changes of own columns; None if neither dataset has any."""
    columns = either_has(old, new)
    both = {path: (one, other) for path, (one, other) in columns.items() if one and other}
    changes = ColumnChanges(
        added=[path for path, (one, _) in columns.items() if one is None],
        removed=[path for path, (_, other) in columns.items() if other is None],
        retyped={
            path: (_NAMES[one.type], _NAMES[other.type])
            for path, (one, other) in both.items()
            if one.type != other.type
        },
    )
    return changes if columns else None


class SideColumns:
    """The row tables of a dataset; an own column that it lacks is unknown in all rows."""

    def __init__(self, dataset: Dataset) -> None:
        self._tables = row_tables(dataset)
        self._own = {field.path for field in dataset.schema.own}
        #: rows by table; "unknown" is the only one of a dataset without own columns
        self.counts = {OWN: 1, **dataset.row_counts()}

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        if field.table == OWN and field.path not in self._own:
            return pa.nulls(self.counts[OWN], _TEXT if field.type == TEXT else type_of(field))
        return self._tables.column(field)

    def by_row(self, field: Field) -> pa.Array:
        """Return the values of a field by row of the table that intervals refer to."""
        return self.column(field) if field.table == OWN else self._tables.by_row(field)

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table."""
        return self._tables.values(table, column)


def read_own_values(old: Dataset, new: Dataset) -> dict[str, Pair]:
    """Read the own columns of either dataset, by row; raises DatasetError for a damaged one."""
    sides, values = (SideColumns(old), SideColumns(new)), {}
    for path, fields in either_has(old.schema, new.schema).items():
        of = [field for field in fields if field]
        columns = [side.column(field or of[0]) for side, field in zip(sides, fields, strict=True)]
        if len({field.type for field in of}) > 1:
            columns = [json_texts(column).cast(pa.large_string()) for column in columns]
        values[path] = in_common(*columns)
    return values
