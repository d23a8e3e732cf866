"""Own columns of two datasets: the columns that changed, and the values of all as numbers.

A column that only one dataset has is unknown everywhere in the other. Values of a column whose type
differs are compared as texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from geolookup.comparison.values import Pair, in_common, read_table
from geolookup.contract.fields import OWN, Field
from geolookup.contract.schema import TYPES, Schema
from geolookup.dataset.arrow_files import type_of, without_dictionary
from geolookup.dataset.files import Dataset

#: A column in OLD and in NEW; None in a dataset without it.
_Sides = tuple[Field | None, Field | None]
_NAMES = {kind: name for name, kind in TYPES.items()}


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


def either_has(old: Schema, new: Schema) -> dict[str, _Sides]:
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


def cell_values(column: pa.ChunkedArray) -> pa.Array:
    """Return values as texts of cells, a list as its joined items: 5 and "5" are equal."""
    plain = without_dictionary(column.combine_chunks())
    if pa.types.is_list(plain.type):
        return pa.array([texts and "\n".join(texts) for texts in plain.to_pylist()], pa.string())
    return plain.cast(pa.string())


def read_own_values(
    old: Dataset, new: Dataset, as_texts: Callable[[pa.ChunkedArray], pa.Array] = cell_values
) -> dict[str, Pair]:
    """Read the own columns of either dataset, by row; raises DatasetError for a damaged one.

    The values of a retyped column are compared as the texts that ``as_texts`` makes.
    """
    sides = [read_table(side, OWN) if side.schema.own else None for side in (old, new)]
    return {
        path: in_common(*_comparable(sides, fields, as_texts))
        for path, fields in either_has(old.schema, new.schema).items()
    }


def _comparable(
    sides: Sequence[pa.Table | None],
    fields: _Sides,
    as_texts: Callable[[pa.ChunkedArray], pa.Array],
) -> Iterator[pa.ChunkedArray]:
    """Yield a column of each side, both of one type."""
    types = {field.type for field in fields if field}
    like = next(field for field in fields if field)
    for table, field in zip(sides, fields, strict=True):
        if table is None or field is None:
            # Row 0, "unknown", is the only one of a dataset without own columns.
            rows = 1 if table is None else len(table)
            yield pa.chunked_array([pa.nulls(rows, type_of(like))])
        elif len(types) > 1:
            yield pa.chunked_array([as_texts(table[field.column])])
        else:
            yield table[field.column]
