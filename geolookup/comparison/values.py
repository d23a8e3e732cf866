"""The values of two datasets' tables as numbers: equal numbers are equal values.

Strategy: of each member that does not depend on the instant, both columns get one dictionary.
Comparing values is then comparing integers: if "Wien" is number 3 of the common dictionary, it is 3
in the columns of both sides. A value is kept by row of its own table: a location refers to its
country and zone by a link, a pair of columns like any other.

An own column that only one dataset has is unknown everywhere in the other. Values of a column whose
type differs are compared as answers have them, in JSON: 5 and "5" differ, 5 and 5.0 do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.contract.display import fold
from geolookup.contract.fields import (
    COUNTRY,
    DEGREES,
    FIELDS,
    LOCATION,
    NETWORK,
    OWN,
    TEXT,
    ZONE,
    Field,
    in_table,
)  # fmt: skip
from geolookup.contract.schema import TYPES, Schema
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import type_of, without_dictionary
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import F64
from geolookup.dataset.runs import Codes
from geolookup.files.column_text import json_texts
from geolookup.tables.row_tables import row_tables

#: An own column in OLD and in NEW; None in a dataset without it.
Sides = tuple[Field | None, Field | None]
_TYPES = {kind: name for name, kind in TYPES.items()}
_TEXT = pa.dictionary(pa.int32(), pa.string())
CODE = "location.country_code"
#: The fields that are names of places.
NAMES = ("location.region_name", "location.city_name")

#: The contract paths of the fields that a location row decides, and of all compared fields.
LOCATION_FIELDS = tuple(field.path for field in FIELDS if field.layer == LOCATION)
COMPARED = (*LOCATION_FIELDS, *(field.path for field in in_table(NETWORK)))


@dataclass(frozen=True, slots=True)
class Pair:
    """Integers of both datasets: the values of a member by row, -1 for null, or numbers of rows.

    ``values`` are the distinct values of a member by number.
    """

    old: NDArray[Any]
    new: NDArray[Any]
    values: Any = None

    def through(self, link: Pair) -> Pair:
        """Return the values by row of a table that refers to this one."""
        return Pair(self.old[link.old], self.new[link.new], self.values)

    def take(self, rows: NDArray[Any]) -> Pair:
        """Return the same rows of both sides, by number or by mask."""
        return Pair(self.old[rows], self.new[rows], self.values)


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """A table that locations refer to: fields by its own rows, and its row by location row."""

    fields: Mapping[str, Pair]
    link: Pair


@dataclass(frozen=True)
class Values:
    """Fields by contract path, and coordinates in degrees (NaN is null) by location row."""

    location: Mapping[str, Pair]  # by location row, with the code of the country
    network: Mapping[str, Pair]  # by network row
    linked: tuple[LinkedTable, ...]  # country and zone
    old_coordinates: F64  # (2, rows): latitude, longitude
    new_coordinates: F64

    def by_row(self, path: str) -> Pair:
        """Return a field by row of the table that intervals refer to."""
        for table in self.linked:
            if path in table.fields:
                return table.fields[path].through(table.link)
        return self.location.get(path) or self.network[path]


def read_values(old: Dataset, new: Dataset) -> Values:
    """Read the tables of two datasets; raises DatasetError for a damaged one."""
    sides = [row_tables(dataset) for dataset in (old, new)]

    def of_table(table: str) -> dict[str, Pair]:
        return {
            field.path: in_common(*(side.column(field) for side in sides))
            for field in in_table(table)
        }

    def linked(table: str) -> LinkedTable:
        rows = [side.values(LOCATION, table).to_numpy().astype(np.int32) for side in sides]
        return LinkedTable(of_table(table), Pair(*rows))

    country = linked(COUNTRY)
    before, after = (
        coordinates({name: side.values(LOCATION, name) for name in DEGREES}) for side in sides
    )
    return Values(
        location={CODE: country.fields[CODE].through(country.link), **of_table(LOCATION)},
        network=of_table(NETWORK),
        linked=(country, linked(ZONE)),
        old_coordinates=before,
        new_coordinates=after,
    )


def read_tables(dataset: Dataset) -> dict[str, pa.Table]:
    """Return the tables of the contract's fields; raises DatasetError if they are damaged."""
    tables = row_tables(dataset)
    columns = {
        table: {field.column: tables.column(field) for field in in_table(table)}
        for table in (COUNTRY, ZONE, LOCATION, NETWORK)
    }
    columns[COUNTRY] = {name: without_dictionary(of) for name, of in columns[COUNTRY].items()}
    columns[LOCATION] |= {link: tables.values(LOCATION, link) for link in fmt.LINKS}
    return {table: pa.table(of) for table, of in columns.items()}


def in_common(old: pa.Array, new: pa.Array) -> Pair:
    """Return the values of a column of both datasets, as codes of one dictionary."""
    # One dictionary for both columns, so their codes compare.
    both = pa.chunked_array([_encode(old), _encode(new)]).unify_dictionaries()
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in both.chunks]
    return Pair(codes[0], codes[1], both.chunk(0).dictionary)


def _encode(values: pa.Array) -> pa.DictionaryArray:
    """Return a column as one dictionary; lists become texts."""
    values = json_texts(values) if pa.types.is_list(values.type) else values
    return values if pa.types.is_dictionary(values.type) else values.dictionary_encode()


def folded(names: pa.Array) -> Codes:
    """Return a number for each name; names that are equal folded have equal numbers.

    A name that folds to nothing, such as "?", stays.
    """
    texts = [fold(name) or name for name in names.to_pylist()]
    numbers: Codes = pa.array(texts, pa.string()).dictionary_encode().indices.to_numpy()
    return numbers


def coordinates(locations: Mapping[str, Any]) -> F64:
    """Return latitude and longitude by row of a table, shape (2, rows); NaN is null."""
    columns = [locations[name].to_numpy(zero_copy_only=False) for name in DEGREES]
    return np.array(columns, np.float64)


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """The own columns that NEW has and OLD has not, and the reverse; the types that differ."""

    added: Sequence[str]  # paths
    removed: Sequence[str]
    retyped: Mapping[str, tuple[str, str]]  # the type in OLD and in NEW, as recipes have it

    def sentences(self) -> Iterator[str]:
        """Yield a sentence on each kind of change."""
        if self.added:
            yield f"Own columns added: {', '.join(self.added)}."
        if self.removed:
            yield f"Own columns removed: {', '.join(self.removed)}."
        for path, (before, after) in self.retyped.items():
            yield f"The type of {path} was {before} and is {after}."


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
            path: (_TYPES[one.type], _TYPES[other.type])
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
