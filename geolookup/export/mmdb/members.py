"""The members of records: which distinct values and maps the rows of a dataset give.

Strategy: a member is a column of codes, one for each row of the location or of the network table,
-1 where the row has no such member. The codes of a map number the distinct combinations of the
codes of its members; so nothing is encoded twice, however many rows have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import COUNTRY, LOCATION, ZONE, Field
from geolookup.dataset.intervals import I64
from geolookup.dataset.runs import factorize
from geolookup.errors import ExportError
from geolookup.export.mmdb.encoding import ARRAY, ENCODERS, MAP, binary, header, strings
from geolookup.export.mmdb.schemas import Schema
from geolookup.tables import row_tables
from geolookup.tables.row_tables import RowTables

_NONE = np.zeros(0, np.int64)
#: Members by key, a field or members again; keys that are digits are positions in an array.
Nested = Mapping[str, "Nested | Field"]


@dataclass(slots=True)
class Leaf:
    """A field: the code of each row, and the encoded value by code."""

    codes: I64
    encoded: pa.Array

    @property
    def height(self) -> int:
        """0: it contains nothing."""
        return 0


@dataclass(slots=True)
class Group:
    """A map or an array: the code of each row, and by code the codes of its content.

    A map contains the key of each member, a leaf of one value, before the member.
    """

    codes: I64
    rows: I64  # (codes, contained)
    inner: Sequence[Member]
    kind: int  # MAP or ARRAY

    @property
    def height(self) -> int:
        """How many members lie inside one another here, at most."""
        return 1 + max(inner.height for inner in self.inner)

    @property
    def counts(self) -> I64:
        """How many members the group has, by code."""
        counts: I64 = (self.rows >= 0).sum(axis=1) // (2 if self.kind == MAP else 1)
        return counts

    @property
    def headers(self) -> pa.Array:
        """The header of a group by its number of members."""
        return binary(header(self.kind, count) for count in range(len(self.inner) + 1))


Member = Leaf | Group


def nest(paths: Mapping[str, Field]) -> Nested:
    """Return the members that paths such as ``city.names.en`` name."""
    members: dict[str, Nested | Field] = {}
    for path, field in paths.items():
        *groups, last = path.split(".")
        at = members
        for name in groups:
            at = at.setdefault(name, {})  # type: ignore[assignment]
        at[last] = field
    return members


def is_array(members: Mapping[str, object]) -> bool:
    """Tell whether members have positions for keys."""
    return all(name.isdigit() for name in members)


def table_of(member: Nested | Field) -> str:
    """Return the table whose rows decide a member: LOCATION, NETWORK or OWN."""
    while not isinstance(member, Field):
        member = next(iter(member.values()))
    return row_tables.table_of(member)


class Columns:
    """The members that a schema has, as columns of a dataset's rows."""

    def __init__(self, tables: RowTables, schema: Schema) -> None:
        self._tables, self._schema = tables, schema

    def group(self, members: Nested) -> Group:
        """Return a group of members that are all of one table."""
        inner = [self._member(member) for member in members.values()]
        codes, rows = _combine([member.codes for member in inner])
        if is_array(members):
            return Group(codes, rows, inner, ARRAY)
        keyed: list[Member] = []
        for name, member in zip(members, inner, strict=True):
            keyed += [Leaf(_NONE, strings(pa.array([name]))), member]
        # The only code of a key is 0: a row has it if it has the member.
        # Members 3 -1 of a row become 0 3 -1 -1: key, value, no key, no value.
        both = np.stack([np.minimum(rows, 0), rows], axis=2).reshape(len(rows), len(keyed))
        return Group(codes, both, keyed, MAP)

    def _member(self, member: Nested | Field) -> Member:
        if isinstance(member, Field):
            return self._leaf(member)
        return self.group(member)

    def _leaf(self, of: Field) -> Leaf:
        column = self._column(of).dictionary_encode()
        codes = _codes(column.indices)
        if of.table in (COUNTRY, ZONE):
            codes = codes[self._tables.values(LOCATION, of.table).to_numpy()]
        values = column.dictionary
        if of.type == "bool" and self._schema.only_true:
            # The code -1 takes the last entry, false: it stays -1.
            codes = np.where(np.array([*values.to_pylist(), False], bool)[codes], codes, -1)
        words = self._schema.words.get(of.path)
        if words:
            values = pa.array([words.get(word, word) for word in values.to_pylist()], pa.string())
        return Leaf(codes, _encoded(of, values))

    def _column(self, of: Field) -> pa.Array:
        column = self._tables.column(of)
        if pa.types.is_list(column.type):  # no dictionary has lists
            values = column.to_pylist()
            number = {texts: at for at, texts in enumerate({tuple(v) for v in values if v})}
            codes = [number[tuple(texts)] if texts else None for texts in values]
            lists = pa.array(list(number), column.type)
            return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), lists)
        return column


def _encoded(of: Field, values: pa.Array) -> pa.Array:
    try:
        return ENCODERS[of.type](values)
    except OverflowError as error:
        remedy = "leave the column out, or declare it as real"
        raise ExportError(f"{of.path}: {error}", remedy) from None


def _codes(indices: pa.Array) -> I64:
    codes: I64 = pc.fill_null(indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return codes


def _combine(columns: Sequence[I64]) -> tuple[I64, I64]:
    """Number the distinct combinations of codes of rows; return numbers and combinations.

    The number is -1 where all codes are.
    """
    numbers, firsts = factorize(columns)
    rows = np.stack([codes[firsts] for codes in columns], axis=1)
    is_known = (rows >= 0).any(axis=1)
    renumbered = np.where(is_known, np.cumsum(is_known) - 1, -1)
    return renumbered[numbers], rows[is_known]
