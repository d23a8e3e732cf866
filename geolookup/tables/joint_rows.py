"""The row tables of several generations as one set of tables, in which equal rows are one row.

Strategy: most rows of a generation are rows of another one too. A row that is new gets the next
number; numbers never change. Rows are compared as numbers, a column of them for each column: a
text is the number of its first occurrence in any generation. The candidate for a row is the row at
the same place in the generation added before: releases keep the places of rows. If that differs, a
hash finds the candidate. All numbers are compared.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field
from geolookup.dataset.arrow_files import with_items
from geolookup.dataset.runs import mix
from geolookup.tables.row_tables import RowTables, TableColumns

#: The number of each row of a generation's table in the joint table.
JointNumbers = NDArray[np.uint32]
_Int64 = NDArray[np.int64]
#: A location refers to a row of these; a joint table of countries can outgrow ``uint16``.
_LINKS = {COUNTRY: pa.uint32(), ZONE: pa.uint16()}


class JointTables:
    """The columns of some fields in all generations that were added.

    ``fields`` are stored fields and their types, as the first generation has them. Row 0 is the
    unknown row.
    """

    def __init__(self, fields: Mapping[Field, pa.DataType], links: Collection[str]) -> None:
        self._fields = fields
        columns: dict[str, dict[str, pa.DataType]] = {}
        for field, kind in fields.items():
            columns.setdefault(field.table, {})[field.column] = kind
        if links:
            columns.setdefault(LOCATION, {}).update((link, _LINKS[link]) for link in links)
        self._links = links
        self._tables = {table: _JointTable(kinds) for table, kinds in columns.items()}
        self._zones: list[str | None] = []

    def add(self, tables: RowTables, own: Mapping[str, Field]) -> dict[str, JointNumbers]:
        """Add the rows of a generation; return their joint numbers by table.

        ``own`` are its fields by path. A column that it lacks is null.
        """
        numbers: dict[str, JointNumbers] = {}
        if ZONE in self._links:
            numbers[ZONE] = self._add_zones(tables.zones)
        # Countries first: the joint numbers of their rows are a column of locations.
        for table in sorted(self._tables, key=lambda table: table == LOCATION):
            columns = {
                field.column: tables.values(field.table, own[field.path].column)
                for field in self._fields
                if field.table == table and field.path in own
            }
            if table == LOCATION:
                columns |= {link: self._link(tables, link, numbers[link]) for link in self._links}
            if columns:
                numbers[table] = self._tables[table].add(columns)
        return numbers

    def _link(self, tables: RowTables, link: str, numbers: JointNumbers) -> pa.Array:
        return pa.array(numbers[tables.values(LOCATION, link).to_numpy()]).cast(_LINKS[link])

    def _add_zones(self, names: Sequence[str | None]) -> JointNumbers:
        known = {name: at for at, name in enumerate(self._zones)}
        for name in names:
            known.setdefault(name, len(known))
        self._zones = list(known)
        return np.array([known[name] for name in names], np.uint32)

    def columns(self) -> TableColumns:
        """Return the columns, with the rows of all generations that were added."""
        values = {
            (table, name): column
            for table, joint in self._tables.items()
            for name, column in joint.columns().items()
        }
        return TableColumns(self._zones or [None], values)


class _JointTable:
    """The distinct rows of a table in all generations."""

    def __init__(self, kinds: Mapping[str, pa.DataType]) -> None:
        self._columns = {name: _column_of(kind) for name, kind in kinds.items()}
        self._kinds = kinds
        self._hashes = np.empty(0, np.uint64)
        self._numbers: list[_Int64] = []  # by column, of all rows; equal where values are
        self._before = np.empty(0, np.int64)  # the joint numbers of the last generation

    def add(self, columns: Mapping[str, pa.Array]) -> JointNumbers:
        """Add rows; return their numbers."""
        count = len(next(iter(columns.values())))
        values = {
            name: columns[name] if name in columns else pa.nulls(count, kind)
            for name, kind in self._kinds.items()
        }
        of_columns = [column.numbers(values[name]) for name, column in self._columns.items()]
        numbers = [number for numbers in of_columns for number in numbers]
        rows, moved = self._in_place(numbers, count)
        new = self._add_moved(rows, moved, [number[moved] for number in numbers])
        taken = pa.array(new)
        for (name, column), (number, *_) in zip(self._columns.items(), of_columns, strict=True):
            column.append(values[name].take(taken), number[new])
        self._before = rows
        return rows.astype(np.uint32)

    def _in_place(self, numbers: Sequence[_Int64], count: int) -> tuple[_Int64, _Int64]:
        """Return joint numbers, and the rows that are not equal to the last ones in their place."""
        both = min(count, len(self._before))
        rows = np.zeros(count, np.int64)
        rows[:both] = self._before[:both]
        differs = np.arange(count) >= both
        for known, number in zip(self._numbers, numbers, strict=True) if both else ():
            differs[:both] |= known[rows[:both]] != number[:both]
        return rows, np.flatnonzero(differs)

    def _add_moved(self, rows: _Int64, moved: _Int64, numbers: Sequence[_Int64]) -> _Int64:
        """Write the joint numbers of rows in other places; return the rows that are new."""
        hashes = mix([number.view(np.uint64) for number in numbers])
        joint, is_new = self._find(numbers, hashes)
        joint[is_new] = len(self._hashes) + np.arange(np.count_nonzero(is_new))
        rows[moved] = joint
        before = self._numbers or [np.empty(0, np.int64)] * len(numbers)
        pairs = zip(before, numbers, strict=True)
        self._numbers = [np.concatenate([known, number[is_new]]) for known, number in pairs]
        self._hashes = np.concatenate([self._hashes, hashes[is_new]])
        return moved[is_new]

    def _find(
        self, numbers: Sequence[_Int64], hashes: NDArray[np.uint64]
    ) -> tuple[_Int64, NDArray[np.bool_]]:
        """Return the number of each row, and which rows are new."""
        if not len(self._hashes) or not len(hashes):
            return np.zeros(len(hashes), np.int64), np.ones(len(hashes), bool)
        # The few hashes are searched for the many: the other way sorts the many each time.
        distinct, number_of = np.unique(hashes, return_inverse=True)
        at = np.minimum(np.searchsorted(distinct, self._hashes), len(distinct) - 1)
        hits = np.flatnonzero(distinct[at] == self._hashes)
        candidates = np.full(len(distinct), -1, np.int64)
        candidates[at[hits]] = hits
        rows: _Int64 = candidates[number_of]
        is_new: NDArray[np.bool_] = rows < 0
        for known, number in zip(self._numbers, numbers, strict=True):
            is_new |= known[rows] != number
        return rows, is_new

    def columns(self) -> dict[str, pa.Array]:
        """Return a value for each row, by column."""
        return {name: column.values() for name, column in self._columns.items()}


class _Plain:
    """A column of numbers or of truth values."""

    def __init__(self) -> None:
        self._parts: list[pa.Array] = []

    def numbers(self, values: pa.Array) -> list[_Int64]:
        """Return numbers that are equal where values are: their bits, and whether they are null."""
        plain = values.cast(pa.uint8()) if pa.types.is_boolean(values.type) else values
        numbers = plain.fill_null(0).to_numpy(zero_copy_only=False)
        is_float = numbers.dtype == np.float64
        bits: _Int64 = numbers.view(np.int64) if is_float else numbers.astype(np.int64)
        return [bits, _absent(values).astype(np.int64)]

    def append(self, values: pa.Array, _numbers: _Int64) -> None:
        """Append the values of new rows, and the first of their ``numbers``."""
        self._parts.append(values)

    def values(self) -> pa.Array:
        """Return the values of all rows."""
        self._parts = [pa.concat_arrays(self._parts)]
        return self._parts[0]


class _Lists(_Plain):
    """A column of lists of texts."""

    def __init__(self, kind: pa.DataType) -> None:
        super().__init__()
        self._items, self._lists = _Texts(kind.value_type), _Texts(pa.string())

    def numbers(self, values: pa.Array) -> list[_Int64]:
        """Return the number of each list, -1 if it is null."""
        # Not the items joined: a text may hold any separator.
        items = self._items.numbers(values.flatten().dictionary_encode())
        joined = pc.binary_join(with_items(values, pa.array(items).cast(pa.string())), " ")
        return [self._lists.numbers(joined.dictionary_encode())]


class _Dictionary(_Plain):
    """A column of texts as a dictionary; the rows are stored as numbers only."""

    def __init__(self, kind: pa.DataType) -> None:
        super().__init__()
        self._texts = _Texts(kind.value_type)

    def numbers(self, values: pa.Array) -> list[_Int64]:
        """Return the number of each text, -1 if it is null."""
        return [self._texts.numbers(values)]

    def append(self, _values: pa.Array, numbers: _Int64) -> None:
        """Append texts as numbers; see ``_Plain``."""
        super().append(pa.array(numbers.astype(np.int32), mask=numbers < 0), numbers)

    def values(self) -> pa.DictionaryArray:
        """Return the values of all rows."""
        return pa.DictionaryArray.from_arrays(super().values(), self._texts.values)


def _column_of(kind: pa.DataType) -> _Plain:
    if pa.types.is_dictionary(kind):
        return _Dictionary(kind)
    return _Lists(kind) if pa.types.is_list(kind) else _Plain()


def _absent(values: pa.Array) -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = values.is_null().to_numpy(zero_copy_only=False)
    return absent


class _Texts:
    """The distinct texts of a column in all generations, numbered as they come."""

    def __init__(self, kind: pa.DataType) -> None:
        self.values = pa.array([], kind)
        self._before, self._numbers = self.values, np.empty(0, np.int64)  # of the last column

    def numbers(self, column: pa.DictionaryArray) -> _Int64:
        """Return the number of each text of a column, with new numbers; -1 if it is null."""
        numbers = np.append(self._of(column.dictionary), -1)
        result: _Int64 = numbers[column.indices.fill_null(-1).to_numpy()]
        return result

    def _of(self, dictionary: pa.Array) -> _Int64:
        both = min(len(dictionary), len(self._before))
        numbers = np.zeros(len(dictionary), np.int64)
        numbers[:both] = self._numbers[:both]
        same = pc.equal(dictionary.slice(0, both), self._before.slice(0, both))
        differs = np.arange(len(dictionary)) >= both
        differs[:both] = ~same.to_numpy(zero_copy_only=False)
        moved = np.flatnonzero(differs)
        numbers[moved] = self._of_moved(dictionary.take(pa.array(moved)))
        self._before, self._numbers = dictionary, numbers
        return numbers

    def _of_moved(self, texts: pa.Array) -> _Int64:
        """Return the numbers of distinct texts that the last column did not have in their place."""
        if not len(self.values):
            self.values = texts
            return np.arange(len(texts))
        # Values A B, texts B C: B has number 1, and C the new number 2. The few texts are the set:
        # it is made anew each time.
        known = pc.index_in(self.values, value_set=texts)
        at = np.flatnonzero(~_absent(known))
        numbers = np.full(len(texts), -1, np.int64)
        numbers[known.take(pa.array(at)).to_numpy()] = at
        is_new = numbers < 0
        numbers[is_new] = len(self.values) + np.arange(np.count_nonzero(is_new))
        self.values = pa.concat_arrays([self.values, texts.filter(pa.array(is_new))])
        return numbers
