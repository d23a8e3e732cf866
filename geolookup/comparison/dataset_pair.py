"""Two datasets to compare row by row: the fields, their values, the conditions, the sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from geolookup.comparison.values import (
    Pair,
    SideColumns,
    Sides,
    either_has,
    read_own_values,
    read_values,
)  # fmt: skip
from geolookup.contract.fields import DEGREES, LOCATION, OWN, STORED, Field
from geolookup.contract.paths import resolve_fields
from geolookup.contract.schema import Schema
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import Bools
from geolookup.dataset.metadata import Source
from geolookup.dataset.public_ranges import any_known
from geolookup.dataset.runs import Codes, factorize
from geolookup.prefixes.condition_values import check_values
from geolookup.prefixes.conditions import Where, conditions_of
from geolookup.prefixes.select import RowMasks, marked, meeting
from geolookup.tables.row_tables import table_of

#: All stored fields, also those that follow from the country.
ALL = "all"
#: How messages on fields, conditions and negated conditions begin: of the call, of the command.
CALLS = ("diff_table", "diff_table", "diff_table: not_")
OPTIONS = ("--fields", "--where", "--not")

_COORDINATES = {field.path for field in STORED if field.member in DEGREES}


class DatasetPair:
    """Two datasets, and what of them is compared.

    ``names`` are fields in calls' names, or ``ALL``; none of them: the fields that sources state
    and own columns. ``where`` and ``not_`` are conditions that the answer of OLD or of NEW must
    meet. With ``in_old`` a range must differ in a field with a value in OLD, and not only by other
    coordinates. Raises ValueError and TypeError for a name or condition that neither dataset has,
    DatasetError for a damaged dataset.
    """

    def __init__(
        self,
        old: Dataset,
        new: Dataset,
        names: tuple[object, ...] = (),
        where: Where = None,
        not_: Where = None,
        calls: tuple[str, ...] = CALLS,
        *,
        in_old: bool = False,
    ) -> None:
        self.old, self.new = old, new
        self._own = either_has(old.schema, new.schema)
        self.columns = SideColumns(old), SideColumns(new)
        #: in the order of the columns; an own column as NEW has it if it does
        self.fields = _select(names, _either(self._own), calls[0])
        self.has_coordinates = {field.path for field in self.fields} >= _COORDINATES
        #: the layers of the fields in either dataset
        sides = chain.from_iterable(map(self.sides, self.fields))
        self.layers = tuple(dict.fromkeys(side.layer for side in sides if side))
        #: the rows of each dataset that meet the conditions; empty without conditions
        self._masks = self._read_conditions(where, not_, calls)
        self.values = read_values(old, new)
        self._in_old = in_old
        #: the codes of the fields, by table and path
        self._codes = self._read_codes()
        #: by table, the numbers of its rows: equal if the rows are in all compared fields
        self.numbers = {
            table: _number_rows([*fields.values()]) for table, fields in self._codes.items()
        }
        #: by table, for each row the first one of its dataset with the same number
        self.first_equal = {
            table: Pair(_first_equal(pair.old), _first_equal(pair.new))
            for table, pair in self.numbers.items()
        }
        sources = [side.manifest.metadata().sources for side in (old, new)]
        #: the distinct names of the sources of both
        self.source_names = list(dict.fromkeys(source.name for source in chain(*sources)))
        #: by number of a source of each, the number of its name from 1 on
        self.source_numbers = Pair(*map(self._numbers_of, sources))

    def sides(self, field: Field) -> Sides:
        """Return a field as OLD and as NEW have it; None for an own column that one lacks."""
        return self._own.get(field.path, (field, field))

    def meets(self, tables: Mapping[str, Pair]) -> Bools:
        """Mark the ranges whose answer meets the conditions in OLD or in NEW.

        ``tables`` are the rows of n ranges, by table. Unknown answers meet no condition.
        """
        marks: Bools = np.full(len(tables[LOCATION].old), not self._masks)
        for side, masks in zip(("old", "new"), self._masks, strict=False):
            rows = {table: getattr(tables[table], side) for table in masks}
            marks |= marked(masks, rows) & any_known(rows)
        return marks & self._differs_from_old(tables) if self._in_old else marks

    def _differs_from_old(self, tables: Mapping[str, Pair]) -> Bools:
        """Mark the ranges in which a field has a value in OLD, and another one or none in NEW.

        Other coordinates do not count: nearly all differ by metres.
        """
        marks: Bools = np.zeros(len(tables[LOCATION].old), bool)
        for table, fields in self._codes.items():
            for path, codes in fields.items():
                pair = codes.through(tables[table])
                differs = pair.new < 0 if path in _COORDINATES else pair.old != pair.new
                marks |= (pair.old >= 0) & differs
        return marks

    def _read_conditions(self, where: Where, not_: Where, calls: tuple[str, ...]) -> list[RowMasks]:
        masks, errors = [], []
        for at, tables in enumerate(self.columns):
            schema = _either(self._own, at)
            conditions = (
                *conditions_of(where, calls[1], schema),
                *conditions_of(not_, calls[2], schema, negated=True),
            )
            if not conditions:
                return []
            try:
                check_values(tables, conditions)
            except ValueError as error:
                errors.append(error)
            masks.append(meeting(tables, conditions))
        if len(errors) > 1:  # a value of neither
            raise errors[1]
        return masks

    def _read_codes(self) -> dict[str, dict[str, Pair]]:
        own = read_own_values(self.old, self.new)
        codes: dict[str, dict[str, Pair]] = {}
        for field in self.fields:
            pair = own[field.path] if field.table == OWN else self.values.by_row(field.path)
            codes.setdefault(table_of(field), {})[field.path] = pair
        return codes

    def _numbers_of(self, sources: Iterable[Source]) -> Codes:
        numbers = [self.source_names.index(source.name) + 1 for source in sources]
        return np.array([0, *numbers], np.int32)


def _select(names: tuple[object, ...], schema: Schema, call: str) -> tuple[Field, ...]:
    if not names:
        return tuple(field for field in schema.stored if field.source_column)
    return schema.stored if ALL in names else resolve_fields(names, schema.stored, call)


def _either(sides: Mapping[str, Sides], prefer: int = 1) -> Schema:
    """Return the fields of both datasets; of own columns the field of the preferred one."""
    return Schema(of for pair in sides.values() if (of := pair[prefer] or pair[1 - prefer]))


def _number_rows(fields: Sequence[Pair]) -> Pair:
    """Return numbers of the rows of both, equal if the rows are in all fields."""
    numbers, _ = factorize([np.concatenate([field.old, field.new]) for field in fields])
    return Pair(*np.split(numbers, [len(fields[0].old)]))


def _first_equal(numbers: Codes) -> Codes:
    codes, first = factorize([numbers])
    return first.astype(np.int32)[codes]
