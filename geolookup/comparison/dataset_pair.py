"""Two datasets to compare row by row: the fields, their values, the conditions, the sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from geolookup.comparison.own_columns import either_has, read_own_values
from geolookup.comparison.values import Pair, Values, read_values
from geolookup.contract.fields import DEGREES, LOCATION, NETWORK, OWN, STORED, Field
from geolookup.contract.paths import resolve_fields
from geolookup.contract.schema import Schema
from geolookup.dataset.arrow_files import type_of
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.metadata import Source
from geolookup.dataset.public_ranges import any_known
from geolookup.files.column_text import json_texts
from geolookup.prefixes.conditions import Where, conditions_of
from geolookup.prefixes.possible_values import check_values
from geolookup.prefixes.select import RowMasks, masks_of
from geolookup.tables.row_tables import row_tables, table_of


class Calls(NamedTuple):
    """The calls or options that state fields and conditions: messages begin with them."""

    fields: str
    where: str
    not_: str


CALLS = Calls("diff_table", "diff_table", "diff_table: not_")
OPTIONS = Calls("--fields", "--where", "--not")


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field in both datasets; an own column that one of them lacks is unknown there."""

    path: str
    of: Field  # as NEW has it if it does
    sides: tuple[Field | None, Field | None]

    @property
    def table(self) -> str:
        """The table of intervals' rows that decides it."""
        return table_of(self.of)


class ComparedValues:
    """The values of both datasets as numbers, by row: equal numbers are equal values."""

    def __init__(self, old: Dataset, new: Dataset, fields: Iterable[ComparedField]) -> None:
        self.contract = read_values(old, new)
        own = read_own_values(old, new, json_column)
        by_path = {**dict(_pairs(self.contract)), **{path: (own[path], None) for path in own}}
        #: by table, the values of the fields, and the link if another table has them
        self.by_table: dict[str, list[tuple[Pair, Pair | None]]] = {
            LOCATION: [],
            NETWORK: [],
            OWN: [],
        }
        for field in fields:
            self.by_table[field.table].append(by_path[field.path])


def _pairs(values: Values) -> Iterator[tuple[str, tuple[Pair, Pair | None]]]:
    yield from ((path, (pair, None)) for path, pair in values.location.items())
    yield from ((path, (pair, None)) for path, pair in values.network.items())
    for table in values.linked:
        yield from ((path, (pair, table.link)) for path, pair in table.fields.items())


def json_column(column: pa.ChunkedArray) -> pa.Array:
    """Return values as JSON texts: 5 and "5" differ, 5 and 5.0 do not."""
    return json_texts(column.combine_chunks()).cast(pa.large_string())


class DatasetPair:
    """Two datasets, and what of them is compared.

    ``names`` are fields in calls' names; none of them: all that are stored. ``where`` and ``not_``
    are conditions that the answer of OLD or of NEW must meet. Raises ValueError and TypeError for
    a name or condition that neither dataset has, DatasetError for a damaged dataset.
    """

    def __init__(
        self,
        old: Dataset,
        new: Dataset,
        names: tuple[object, ...] = (),
        where: Where = None,
        not_: Where = None,
        calls: Calls = CALLS,
    ) -> None:
        self.old, self.new = old, new
        sides = either_has(old.schema, new.schema)
        among = _either(sides).stored
        selection = resolve_fields(names, among, calls.fields) if names else among
        #: in the order of the columns
        self.fields = tuple(
            ComparedField(field.path, field, sides.get(field.path, (field, field)))
            for field in selection
        )
        self.has_coordinates = {field.path for field in selection} >= {
            field.path for field in STORED if field.member in DEGREES
        }
        #: the layers of the fields in either dataset
        self.layers = tuple(
            dict.fromkeys(side.layer for field in self.fields for side in field.sides if side)
        )
        #: the rows of each dataset that meet the conditions; empty without conditions
        self._masks = _masks(old, new, sides, where, not_, calls)
        self.values = ComparedValues(old, new, self.fields)
        sources = [side.manifest.metadata().sources for side in (old, new)]
        #: the distinct names of the sources of both
        self.source_names = list(dict.fromkeys(item.name for item in chain(*sources)))
        #: by number of a source of each, the number of its name from 1 on
        self.source_numbers = [self._numbers(of) for of in sources]

    def _numbers(self, sources: Iterable[Source]) -> NDArray[np.uint16]:
        numbers = [self.source_names.index(source.name) + 1 for source in sources]
        return np.array([0, *numbers], np.uint16)

    def meets(self, tables: Mapping[str, tuple[NDArray[np.uint32], NDArray[np.uint32]]]) -> Bools:
        """Mark the ranges whose answer meets the conditions in OLD or in NEW.

        ``tables`` are the rows of n ranges in both, by table. Unknown answers meet no condition.
        """
        marks: Bools = np.full(len(tables[LOCATION][0]), not self._masks)
        for at, masks in enumerate(self._masks):
            rows = {table: tables[table][at] for table in masks.tables}
            marks |= masks.mark(rows) & any_known(rows)
        return marks


_Sides = Mapping[str, tuple[Field | None, Field | None]]


def _either(sides: _Sides, prefer: int = 1) -> Schema:
    """Return the fields of both datasets; of own columns the field of the preferred one."""
    return Schema(of for pair in sides.values() if (of := pair[prefer] or pair[1 - prefer]))


def _masks(
    old: Dataset, new: Dataset, sides: _Sides, where: Where, not_: Where, calls: Calls
) -> list[RowMasks]:
    """Return the rows of each dataset that meet the conditions; empty without conditions."""
    masks, errors = [], []
    for at, dataset in enumerate((old, new)):
        schema, tables = _either(sides, at), _Columns(dataset)
        conditions = (
            *conditions_of(where, calls.where, schema),
            *conditions_of(not_, calls.not_, schema, negated=True),
        )
        if not conditions:
            return []
        try:
            check_values(tables, conditions)
        except ValueError as error:
            errors.append(error)
        masks.append(masks_of(tables, {OWN: 1, **dataset.row_counts()}, conditions))
    if len(errors) > 1:  # a value of neither
        raise errors[1]
    return masks


class _Columns:
    """The row tables of a dataset; an own column that it lacks is unknown in all rows."""

    def __init__(self, dataset: Dataset) -> None:
        self._tables = row_tables(dataset)
        self._own = {field.path for field in dataset.schema.own}
        self._own_rows = dataset.row_counts().get(OWN, 1)

    def column(self, field: Field) -> pa.Array:
        """Return the values of a stored field, one for each row of the table that stores it."""
        if field.table == OWN and field.path not in self._own:
            return pa.nulls(self._own_rows, type_of(field))
        return self._tables.column(field)

    def values(self, table: str, column: str) -> pa.Array:
        """Return a column of a table."""
        return self._tables.values(table, column)
